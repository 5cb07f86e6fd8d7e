"""Arrays and data frames of any library, as columns of raw cells."""
