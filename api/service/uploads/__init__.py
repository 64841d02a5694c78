"""Files that people send: their pieces, and what scans them."""
