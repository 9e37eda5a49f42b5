"""ran.py - a recording, and what happens to its program meanwhile and afterwards: which functions have names.

usage: ran.py BACKSTITCH MKCAP, in a folder with two builds, 'old' and 'new'; called by ran.sh
"""
import array
import fcntl
import os
import re
import shutil
import subprocess
import sys
import time

B, MKCAP = sys.argv[1:3]
HERE = os.getcwd()
FIRST = 10**9
GETVERSION = 0x80087601


def ok(name, good, said=""):
    print("ok" if good else "not ok", name)
    if not good and said:
        print("# " + str(said)[:600].replace("\n", "\n# "))


def later():
    """Until the clock of files has gone on."""
    with open("tick", "w"):
        pass
    before = os.stat("tick").st_mtime_ns
    while os.stat("tick").st_mtime_ns < before + 60_000_000:
        os.utime("tick")


def build_id(path):
    said = subprocess.run(["readelf", "-nlW", path], stdout=subprocess.PIPE, check=True).stdout.decode()
    off = [line.split()[1] for line in said.split("\n") if " R E " in line]
    return re.search(r"Build ID: *(\w+)", said).group(1), off[0]


OLD, OFF = build_id("old")
NEW, _ = build_id("new")


def generation(path):
    gen = array.array("L", [0])
    try:
        with open(path, "rb") as f:
            fcntl.ioctl(f, GETVERSION, gen)
    except OSError:
        return 0
    return gen[0] & 0xffffffff


class Recording:
    """A capture that is written from now on until end()."""

    def __init__(self, name, host=None):
        later()
        shutil.rmtree(name, ignore_errors=True)
        os.mkdir(name)
        self.dir, self.path, self.maps, self.samples = name, f"{HERE}/{name}/prog", [], []
        self.host = host or " ".join((os.uname().nodename, os.uname().release))
        open(name + "/c.data", "w").close()
        self.since = os.stat(name + "/c.data").st_mtime_ns
        self.put("old")

    def put(self, build, keep=False):
        """The program is written in place."""
        self.build = build
        with open(build, "rb") as f, open(self.path, "r+b" if os.path.exists(self.path) else "wb") as out:
            out.write(f.read())
            out.truncate()
        os.chmod(self.path, 0o755)
        if keep:
            os.utime(self.path, (10**9, 10**9))

    def run(self, ino=0, gen=None, path=None):
        later()
        st = os.stat(path or self.path)
        now = FIRST + time.time_ns() - self.since
        n = len(self.maps) + 7
        each = 7 if self.build == "new" else 5
        gen = generation(self.path) if gen is None else gen
        self.maps.append(
            f'comm pid={n} name="p{n}" exec time={now} cpu=0\n'
            f"mmap pid={n} start=0x400000 len=0x1000 pgoff={OFF} path={self.path} maj={os.major(st.st_dev)} "
            f"min={os.minor(st.st_dev)} ino={st.st_ino + ino} gen={gen} time={now} cpu=0\n" +
            "".join(f"sample pid={n} tid={n} cpu=0 time={now + i} u={0x400000 + each * i}\n" for i in range(1, 5)))
        later()

    def end(self, id=None):
        later()
        now = FIRST + time.time_ns() - self.since
        text = f"event cpu-clock\nhost {self.host}\n" + f'comm pid=1 name="first" time={FIRST} cpu=0\n'
        text += "".join(self.maps) + f'comm pid=1 name="last" time={now} cpu=0\n'
        if id:
            name = self.path.encode()
            text += "raw type=67 misc=0x8002 hex=ffffffff" + id + "14000000" + \
                (name + bytes(64 - len(name) % 64)).hex() + "\n"
        with open(self.dir + "/c.txt", "w") as f:
            f.write(text)
        subprocess.run([MKCAP, self.dir + "/c.txt", self.dir + "/c.data"], check=True)
        later()

    def names(self, *options):
        """What each process ran: a function, '?' without a name; 'fn*' if nothing proves it."""
        db = self.dir + "/x.db"
        subprocess.run([B, "ingest", "-q", "-f", "-o", db, *options, self.dir + "/c.data"], check=True,
                       stderr=subprocess.DEVNULL)
        rows = subprocess.run([B, "query", "--format", "csv", db,
                               "SELECT p.pid, group_concat(DISTINCT coalesce(s.name, '?')), max(i.status) "
                               "FROM event e JOIN raw_chain r ON r.id = e.uraw JOIN stack t ON t.id = r.stack "
                               "JOIN frame f ON f.id = t.frame JOIN image i ON i.id = f.image "
                               "LEFT JOIN symbol s ON s.id = f.symbol JOIN thread h ON h.id = e.thread "
                               "JOIN process p ON p.id = h.process WHERE i.path LIKE '%/prog%' "
                               "GROUP BY p.pid ORDER BY p.pid"], check=True, stdout=subprocess.PIPE).stdout.decode()
        out = []
        for line in rows.replace('"', "").split("\n")[1:]:
            if line.strip():
                _, name, status = line.strip().rsplit(",", 2)
                out.append(name + ("*" if status == "unverified" else ""))
        return " ".join(out)

    def said(self, command):
        text = subprocess.run([B, command, self.dir + "/x.db"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False).stdout.decode()
        return " ".join(text.split())


def is_(name, r, wanted, *options):
    got = r.names(*options)
    ok(name, got == wanted, f"wanted {wanted}, got {got}")


def replace(r, build="new"):
    """By another file, as install, dpkg and linkers do."""
    shutil.copy(build, r.path + ".x")
    os.rename(r.path + ".x", r.path)
    r.build = build


# ---- content

r = Recording("same")
r.run()
r.end(OLD)
is_("the_file_that_ran_has_its_names", r, "old_fn")
replace(r, "old")
is_("one_that_was_installed_again_too", r, "old_fn")

r = Recording("kept")
r.run()
r.end(OLD)
r.put("new", True)
is_("a_build_id_decides_before_inode_and_times", r, "?")
info = r.said("info")
ok("both_ids_are_said", f"other build-id (recorded {OLD}, here {NEW})" in info, info)
os.mkdir("kept/root")
os.makedirs("kept/root" + HERE + "/kept")
shutil.copy2("old", "kept/root" + r.path)
is_("a_tree_with_the_right_file_gives_names", r, "old_fn", "--symfs", "kept/root")
os.link(r.path, r.path + ".link")
is_("another_name_of_the_file_changes_nothing", r, "?")

r = Recording("unknown")
r.run()
r.end()
r.put("new", True)
is_("without_an_id_ctime_tells_and_addresses_decide", r, "?")

r = Recording("chmod")
r.run()
r.end()
os.chmod(r.path, 0o700)
is_("what_was_changed_since_is_not_proved", r, "old_fn*")
r.put("new")
is_("what_was_written_since_is_another_one", r, "?")

# ---- written while it was recorded

for name, id, keep, link in (("in_place", NEW, False, False), ("by_cp_p_without_an_id", None, True, False),
                             ("and_linked_to_a_cache", NEW, False, True)):
    r = Recording("w" + name[:2])
    r.run()
    r.put("new", keep)
    r.run()
    if link:
        os.link(r.path, r.path + ".cache")
    r.end(id)
    is_("what_was_mapped_before_has_no_names_" + name, r, "? new_fn")
    if not link and id:
        report = r.said("report")
        ok("it_was_replaced", "prog was replaced: " in report and "with the old file gives them" in report, report)
        os.makedirs(r.dir + "/root" + HERE + "/" + r.dir)
        shutil.copy("old", r.dir + "/root" + r.path)
        is_("the_old_file_names_what_ran_before", r, "old_fn* ?", "--symfs", r.dir + "/root")

r = Recording("made")
os.unlink(r.path)
r.put("new")
r.run()
r.end(NEW)
is_("what_was_built_before_it_was_mapped_has_names", r, "new_fn")

r = Recording("upgrade")
r.run()
replace(r)
r.run()
r.end(NEW)
is_("an_upgrade_while_it_is_recorded_names_the_new_one_only", r, "? new_fn")

# ---- links, clocks, inodes

r = Recording("linked")
r.run()
os.link(r.path, r.path + ".cache")
r.end(OLD)
is_("a_link_made_by_the_recorder_is_no_change", r, "old_fn")

r = Recording("clock")
os.utime(r.path, (1, 1))
r.run()
r.end(OLD)
is_("a_file_of_1970_is_not_suspicious", r, "old_fn")
os.utime(r.path, (2**31, 2**31))
is_("nor_is_a_clock_that_was_set_back", r, "old_fn")

r = Recording("other")
r.run(ino=1)
r.end()
is_("another_inode_is_another_file", r, "?")
report = r.said("report")
ok("which_need_not_have_replaced_it", "prog here is another file than the one that ran (replaced, or in a container)"
   in report, report)

r = Recording("reused")
here = generation(r.path)
if here:
    r.run(gen=here ^ 1)
    r.put("new")
    r.run()
    r.end(NEW)
    is_("a_generation_tells_files_with_one_inode_apart", r, "? new_fn")
    report = r.said("report")
    ok("and_no_remedy_names_the_new_one", "was replaced: " in report and
       str(os.stat(r.path).st_ino) not in report and "with the old file" in report, report)
    os.mkdir("reused/given")
    shutil.copy("new", f"reused/given/prog.{os.stat(r.path).st_ino}")
    is_("nor_does_the_new_one_by_its_inode", r, "? new_fn*", "--symfs", "reused/given")
else:
    print("skip a_generation_tells_files_with_one_inode_apart: the file system has none")

# ---- nothing is opened but files

r = Recording("fifo")
r.run(ino=1)
r.end(OLD)
os.unlink(r.path)
os.mkfifo(r.path)
with subprocess.Popen(["sh", "-c", 'echo >"$0"', r.path]) as writer:
    time.sleep(0.1)
    r.names()
    ok("a_fifo_is_not_opened", writer.poll() is None)
    writer.kill()

# ---- a root of its own

if os.getuid() == 0:
    r = Recording("root")
    os.makedirs("root/r" + HERE + "/root")
    with open("spin.s", "w") as f:
        f.write("\t.text\n\t.globl _start\n_start:\n\tjmp _start\n")
    subprocess.run("gcc -c -o spin.o spin.s && ld -o root/r/spin spin.o", shell=True, check=True)
    shutil.copy("old", "root/r" + r.path)
    with subprocess.Popen(["/spin"], preexec_fn=lambda: os.chroot("root/r")) as process:
        r.run(path="root/r" + r.path, gen=0)
        r.maps[-1] = r.maps[-1].replace("pid=7", f"pid={process.pid}").replace("tid=7", f"tid={process.pid}")
        r.end()
        is_("what_ran_in_another_root_has_no_names", r, "?")
        report = r.said("report")
        root = f"/proc/{process.pid}/root"
        ok("its_root_is_named_while_it_lives", f"'backstitch symbolize --symfs {root}' gives them" in report, report)
        is_("which_gives_them", r, "old_fn", "--symfs", root)
        process.kill()
else:
    print("skip its_root_is_named_while_it_lives: not root")
