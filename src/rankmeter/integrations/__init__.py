"""Faces for other frameworks, one module each, which imports the framework itself.

Nothing here is imported by the package: ``import rankmeter`` needs numpy alone.
"""
