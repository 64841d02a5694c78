"""Reads what strangers link to, and asks no address that is not public.

`addresses` says which addresses may be asked, `targets` what an address on the web may look like, `client` makes one
exchange with a host that was checked, `robots` what a site asks of programs, `pages` follows a link to its text, and
`extraction` takes the main text out of a page in a process of its own.
"""
