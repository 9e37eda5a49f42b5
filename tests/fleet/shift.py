"""shift.py - a database as that of another host, boot and time.

A copy, in which the capture has another host, kernel, clock and content: so it
is another run of a fleet, with the same samples."""
import hashlib
import shutil
import sqlite3


def shift(source, target, host, kernel=None, wall=None):
    """wall: the time since 1970 of 0 on the capture's clock, in ns."""
    shutil.copyfile(source, target)
    con = sqlite3.connect(target)
    con.execute("PRAGMA synchronous = OFF")
    content = hashlib.md5(repr((source, host, kernel, wall)).encode())
    con.execute("UPDATE capture SET host = ?, release = coalesce(?, release)",
                (host, kernel))
    con.execute("DELETE FROM meta WHERE key IN ('content', 'wall_offset_ns')")
    for (capture,) in con.execute("SELECT id FROM capture").fetchall():
        content.update(b"%d" % capture)
        con.execute("INSERT INTO meta(capture, key, value) VALUES (?, 'content', ?)",
                    (capture, content.hexdigest()))
        if wall is not None:
            con.execute("""INSERT INTO meta(capture, key, value)
                           VALUES (?, 'wall_offset_ns', ?)""", (capture, wall))
    con.commit()
    con.close()
    return target
