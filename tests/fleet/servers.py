"""servers.py - ClickHouse servers for tests: processes of our own on free ports.

    with Servers(2) as s:            # a cluster `fleet` of two shards
        s.urls                       # ["http://127.0.0.1:PORT", ...]
        s.sql("SELECT 1")            # text of the answer of server 0
        s.url(1, "fleet")            # "clickhouse://127.0.0.1:PORT/fleet"
        s.kill(1); s.start(1)        # SIGKILL, and the same server again
    s = Servers(1, password="geheim", path={0: "/mnt/small"})

All their files are in a temporary folder. installed() tells whether there is a
server; a test prints "skip NAME: clickhouse-server is not installed" if not.
As a program, `servers.py N COMMAND...` runs a command with $FLEET_URL0, ... of
N servers, and ends with its status."""
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

PROGRAM = shutil.which("clickhouse-server",
                       path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin")
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))

CONFIG = """<yandex>
<logger><level>warning</level><log>{dir}/log</log>
<errorlog>{dir}/errors</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>
<interserver_http_port>{inter}</interserver_http_port>
<listen_host>127.0.0.1</listen_host>
<path>{path}/data/</path><tmp_path>{path}/tmp/</tmp_path>
<format_schema_path>{path}/formats/</format_schema_path>
<users_config>{dir}/users.xml</users_config>
<default_profile>default</default_profile>
<default_database>default</default_database>
<mark_cache_size>67108864</mark_cache_size><timezone>UTC</timezone>
<remote_servers><fleet>{shards}</fleet></remote_servers>
</yandex>
"""
SHARD = """<shard><internal_replication>true</internal_replication>
<replica><host>127.0.0.1</host><port>{port}</port>{login}</replica></shard>
"""
USERS = """<yandex>
<profiles><default><max_memory_usage>4000000000</max_memory_usage></default>
</profiles>
<users><default>{password}<networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default></users>
<quotas><default></default></quotas>
</yandex>
"""


def installed():
    return PROGRAM is not None


def free_ports(n):
    """Ports that nobody listens on; of all that are asked for at a time, no
    two are the same."""
    held = [socket.socket() for _ in range(n)]
    for s in held:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


class Servers:
    def __init__(self, n=1, password="", path=None):
        """path: folders for the data of some servers, by number."""
        self.n = n
        self.password = password
        self.path = path or {}
        self.process = [None] * n
        self.dir = None

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="fleet-")
        ports = free_ports(3 * self.n)
        self.http, self.tcp = ports[:self.n], ports[self.n:2 * self.n]
        self.urls = ["http://127.0.0.1:%d" % p for p in self.http]
        try:
            for i in range(self.n):
                self.configure(i, ports[2 * self.n + i])
                self.start(i, wait=False)
            for i in range(self.n):
                self.wait(i)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *ignored):
        for i in range(self.n):
            self.kill(i)
        shutil.rmtree(self.dir, ignore_errors=True)

    def configure(self, i, inter):
        at = os.path.join(self.dir, str(i))
        os.mkdir(at)
        login = "<user>default</user><password>%s</password>" % self.password
        shards = "".join(SHARD.format(port=p, login=login) for p in self.tcp)
        with open(at + "/config.xml", "w") as f:
            f.write(CONFIG.format(dir=at, path=self.path.get(i, at),
                                  http=self.http[i], tcp=self.tcp[i],
                                  inter=inter, shards=shards))
        digest = hashlib.sha256(self.password.encode()).hexdigest()
        with open(at + "/users.xml", "w") as f:
            f.write(USERS.format(
                password="<password_sha256_hex>%s</password_sha256_hex>"
                % digest if self.password else "<password></password>"))

    def start(self, i, wait=True):
        at = os.path.join(self.dir, str(i))
        with open(at + "/said", "ab") as said:
            self.process[i] = subprocess.Popen(
                [PROGRAM, "--config-file=" + at + "/config.xml"], cwd=at,
                stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                start_new_session=True)
        if wait:
            self.wait(i)

    def wait(self, i, seconds=60):
        """Until the server answers."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process[i].poll() is not None:
                break
            try:
                with DIRECT.open(self.urls[i] + "/ping", timeout=2) as r:
                    if r.read() == b"Ok.\n":
                        return
            except OSError:
                pass
            time.sleep(0.02)
        with open(os.path.join(self.dir, str(i), "said"), "rb") as f:
            raise RuntimeError("server %d does not answer: %s"
                               % (i, f.read()[-2000:].decode("utf-8", "replace")))

    def kill(self, i, sig=signal.SIGKILL):
        p = self.process[i]
        if p and p.poll() is None:
            p.send_signal(sig)
            p.wait()

    def restart(self, i):
        self.kill(i)
        self.start(i)

    def url(self, i=0, database="default"):
        return "clickhouse://127.0.0.1:%d/%s" % (self.http[i], database)

    def sql(self, text, i=0, body=None, timeout=60, **settings):
        """Runs a statement on server i; returns its answer as text. body: the
        rows of an INSERT, in bytes."""
        if body is not None:
            settings["query"] = text
        ask = urllib.request.Request(
            self.urls[i] + "/?" + urllib.parse.urlencode(
                dict(settings, wait_end_of_query=1)),
            data=text.encode() if body is None else body,
            headers={"X-ClickHouse-User": "default",
                     "X-ClickHouse-Key": self.password})
        try:
            with DIRECT.open(ask, timeout=timeout) as r:
                return r.read().decode("utf-8", "replace")
        except urllib.error.HTTPError as e:
            raise RuntimeError(e.read().decode("utf-8", "replace")) from None

    def rows(self, text, i=0):
        """The rows of an answer, as tuples of texts."""
        return [tuple(line.split("\t"))
                for line in self.sql(text + " FORMAT TabSeparated",
                                     i).splitlines()]


def main():
    if not installed():
        print("skip servers: clickhouse-server is not installed")
        return 0
    with Servers(int(sys.argv[1])) as s:
        env = dict(os.environ)
        for i in range(s.n):
            env["FLEET_URL%d" % i] = s.url(i)
        return subprocess.call(sys.argv[2:], env=env)


if __name__ == "__main__":
    sys.exit(main())
