"""A made network: nobody in it exists; what its people write, and a server that speaks like a network."""
