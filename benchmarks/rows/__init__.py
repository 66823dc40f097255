"""Published measurements: tables read row by row, each row in the words of the models."""
