# __init__.py - see QtSql.py.
