"""Speed and memory of rankmeter next to other libraries and to the cheapest loop over the input."""
