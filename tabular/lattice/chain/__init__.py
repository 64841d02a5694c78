"""D-KGEN: releases of a table that changes, such that all of them together keep k."""
