"""Rankings as mappings.pyx reads them: nothing for Python."""
