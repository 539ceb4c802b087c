"""All memory that ranking one query takes: nothing for Python."""
