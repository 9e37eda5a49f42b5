# QtSql.py - stands in for PySide2, which perf's export-to-sqlite.py needs.
"""Just what that script calls, over Python's own sqlite3: SQLite does the same
work, and what is saved between Python and it is on the script's side."""

import sqlite3


class Error:
    def __init__(self, words):
        self.words = words

    def text(self):
        return self.words


class QSqlDatabase:
    @staticmethod
    def addDatabase(kind):
        return QSqlDatabase()

    def setDatabaseName(self, name):
        self.name = name

    def open(self):
        self.con = sqlite3.connect(self.name, isolation_level=None)
        return True


class QSqlQuery:
    def __init__(self, db):
        self.con = db.con
        self.sql = ""
        self.values = []
        self.words = ""

    def prepare(self, sql):
        self.sql = sql

    def addBindValue(self, value):
        self.values.append(value)

    def exec_(self, sql=None):
        try:
            self.rows = self.con.execute(sql or self.sql,
                                         () if sql else self.values)
        except sqlite3.Error as e:
            self.words = str(e)
            return False
        self.values = []
        return True

    def next(self):
        return self.rows.fetchone() is not None

    def lastError(self):
        return Error(self.words)
