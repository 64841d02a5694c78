"""Tables, their protections and their measures: the engine for microdata."""
