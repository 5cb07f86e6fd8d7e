"""How sure: the search on other rows, errors and tests, why (not), what could be found."""
