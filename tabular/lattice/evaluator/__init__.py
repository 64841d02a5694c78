"""What nodes are worth: classes rolled up from finer nodes, and every metric of them."""
