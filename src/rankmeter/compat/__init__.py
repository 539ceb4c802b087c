"""Faces of other libraries, one module each: their calls, keys and values, computed here.

Nothing here is imported by the package.
"""
