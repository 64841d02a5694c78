"""What all reports are drawn with: page, colours, scales, charts."""
