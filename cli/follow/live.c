/* live.c - receives a live LTTng session from its relay daemon.
 *
 * The protocol is the one for viewers of lttng-tools, version 2.4 and later: a
 * request is answered before the next one is sent, and all numbers are
 * big-endian. The packets are CTF as the tracer wrote them, with its counters
 * of discarded events. libbabeltrace2 can receive them too, but decodes them to
 * messages, which would have to be encoded as CTF again. */
#include "cli/follow/live.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/args/status.h"
#include "cli/follow/segments.h"
#include "cli/output/say.h"
#include "cli/process/child.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/now.h"

#define PORT "5344"
/* Limits of a reply: a relay daemon sends no more. */
#define SESSIONS_MAX 4096
#define STREAMS_MAX 16384
#define METADATA_MAX ((size_t)64 << 20)
#define PACKET_MAX ((uint64_t)1 << 30)
#define BLOCK 65536u
#define IDLE_MS 100
#define REPLY_SECONDS 10

enum {
	CONNECT = 1,
	LIST,
	ATTACH,
	INDEX,
	PACKET,
	METADATA,
	STREAMS,
	CREATE
};
/* Statuses of replies: of all requests, then those of INDEX and of STREAMS;
 * NEW_* are flags of INDEX and PACKET. */
enum {
	OK = 1
};
enum {
	INDEX_RETRY = 2,
	INDEX_HUP,
	INDEX_ERR,
	INDEX_INACTIVE,
	INDEX_EOF
};
enum {
	NEW_METADATA = 1,
	NEW_STREAM = 2
};
enum {
	STREAMS_HUP = 4
};

struct live {
	const struct folder_lock *claim;
	const char *url;
	const struct segment_limit *limit;
	char *host, *port, *node, *session; /* the parts of the URL */
	int family;
	char *folder;
	pid_t pid; /* 0: it has ended */
	bool damaged;
};

struct live_stream {
	uint64_t id, trace;
	char *name;	    /* path and channel, the same on each connection */
	uint64_t end;	    /* of the last packet received, in its clock */
	uint64_t discarded; /* events until then, as the tracer counts */
	uint64_t after;	    /* events discarded before this chunk */
	bool goes_on;	    /* the stream was in an earlier chunk */
	bool metadata, open;
};

struct live_trace {
	uint64_t id;
	char *text; /* metadata received so far */
	size_t n, cap;
	bool here; /* in the current chunk */
};

/* The state of the process that receives. */
struct live_client {
	const struct live *l;
	int fd;
	uint64_t session;
	struct live_stream *stream;
	size_t n_streams, streams_cap;
	struct live_trace *trace;
	size_t n_traces, traces_cap;
	bool stale, grown; /* new metadata, new streams exist */
	bool ended, damaged;
	size_t got;	/* bytes that the last live_get() received */
	uint64_t bytes; /* in the current chunk */
	int64_t since;
	unsigned int chunks;
};

static volatile sig_atomic_t live_stopping;

static void live_on_signal(int sig UNUSED)
{
	live_stopping = 1;
}

static int live_broke(const struct live_client *c, struct err *err)
{
	return err_set(err, ERR_IO, "%s: the relay daemon %s", c->l->url,
		       errno == EAGAIN ? "does not answer"
				       : "ended the connection");
}

/* Receives n bytes; c->got is how many came. Returns 0, or -1 and *err. */
static int live_get(struct live_client *c, void *to, size_t n, struct err *err)
{
	for (size_t at = c->got = 0; at < n; at = c->got) {
		ssize_t got = recv(c->fd, (char *)to + at, n - at, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			errno = got ? errno : EPIPE;
			return live_broke(c, err);
		}
		c->got += (size_t)got;
	}
	return 0;
}

static int live_numbers(struct live_client *c, uint32_t *v, size_t n,
			struct err *err)
{
	if (live_get(c, v, n * sizeof(*v), err))
		return -1;
	for (size_t i = 0; i < n; i++)
		v[i] = be32toh(v[i]);
	return 0;
}

static uint64_t live_u64(const uint32_t *v)
{
	return (uint64_t)v[0] << 32 | v[1];
}

/* An id as two words of a request. */
#define ID(id) (uint32_t)((id) >> 32), (uint32_t)(id)

/* Sends a request of n words, and receives the first words of its reply. */
static int live_ask(struct live_client *c, uint32_t what, const uint32_t *v,
		    size_t n, uint32_t *answer, size_t n_answer,
		    struct err *err)
{
	uint32_t m[10] = { 0, htobe32((uint32_t)(n * 4)), htobe32(what), 0 };

	for (size_t i = 0; i < n; i++)
		m[4 + i] = htobe32(v[i]);
	if (send(c->fd, m, 16 + n * 4, MSG_NOSIGNAL) != (ssize_t)(16 + n * 4))
		return live_broke(c, err);
	return live_numbers(c, answer, n_answer, err);
}

static int live_bad(const struct live_client *c, const char *what,
		    uint64_t number, struct err *err)
{
	return err_set(err, ERR_FORMAT,
		       "%s: the relay daemon's reply has %s %" PRIu64,
		       c->l->url, what, number);
}

static char *live_path(const struct live_client *c, uint64_t trace,
		       const char *name)
{
	return mem_printf("%s/tmp/trace-%" PRIu64 "/%s", c->l->folder, trace,
			  name);
}

static FILE *live_file(struct live_client *c, uint64_t trace, const char *name,
		       struct err *err)
{
	char *path OWNED = live_path(c, trace, name);
	FILE *f = fopen(path, "ae");

	if (!f)
		err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	return f;
}

static struct live_trace *live_trace_of(struct live_client *c, uint64_t id)
{
	struct live_trace *t;

	for (size_t i = 0; i < c->n_traces; i++)
		if (c->trace[i].id == id)
			return &c->trace[i];
	t = mem_add(c->trace, c->n_traces, c->traces_cap);
	*t = (struct live_trace){ .id = id };
	return t;
}

/* Appends the metadata from a position on to the chunk at once, so that the
 * chunk of a killed run can be read. Returns 0, or -1 and *err. */
static int live_write_metadata(struct live_client *c, struct live_trace *t,
			       size_t from, struct err *err)
{
	FILE *f = live_file(c, t->id, "metadata", err);

	if (!f)
		return -1;
	bool bad = fwrite(t->text + from, 1, t->n - from, f) != t->n - from;

	bad |= fclose(f) != 0;
	return bad ? err_set(err, ERR_IO, "%s: %s", c->l->folder,
			     strerror(errno))
		   : 0;
}

static int live_begin_trace(struct live_client *c, struct live_trace *t,
			    struct err *err)
{
	char *tmp OWNED = mem_printf("%s/tmp", c->l->folder);
	char *dir OWNED = live_path(c, t->id, "");

	mkdir(tmp, 0777);
	mkdir(dir, 0777);
	t->here = true;
	return live_write_metadata(c, t, 0, err);
}

/* Ends the chunk, if there is one. Like a rotated one it is named by its time,
 * so that chunks sort by time, and its streams do not all end at one time. */
static void live_end_chunk(struct live_client *c)
{
	const time_t now = time(NULL);
	struct tm tm;
	char when[32];

	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%S+0000", &tm);
	char *tmp OWNED = mem_printf("%s/tmp", c->l->folder);
	char *to OWNED = mem_printf("%s/archives/%s-%s-%u", c->l->folder, when,
				    when, c->chunks++);

	if (rename(tmp, to) && errno != ENOENT)
		say("backstitch: %s: %s\n", to, strerror(errno));
	for (size_t i = 0; i < c->n_traces; i++)
		c->trace[i].here = false;
	for (size_t i = 0; i < c->n_streams; i++) {
		c->stream[i].goes_on = c->stream[i].end != 0;
		c->stream[i].after = c->stream[i].discarded;
	}
	c->bytes = 0;
	c->since = now_ns();
}

/* Receives n streams, new or known by name. Returns 0, or -1 and *err. */
static int live_read_streams(struct live_client *c, uint32_t n, struct err *err)
{
	uint32_t v[5];
	struct {
		char path[PATH_MAX], channel[NAME_MAX];
	} m;

	if (n > STREAMS_MAX || c->n_streams > STREAMS_MAX)
		return live_bad(c, "a number of streams of", n, err);
	for (uint32_t i = 0; i < n; i++) {
		struct live_stream *s = NULL;

		if (live_numbers(c, v, 5, err) ||
		    live_get(c, &m, sizeof(m), err))
			return -1;
		char *name = mem_printf("%.*s/%.*s", PATH_MAX, m.path, NAME_MAX,
					m.channel);

		for (size_t j = 0; !s && j < c->n_streams; j++)
			if (!strcmp(c->stream[j].name, name))
				s = &c->stream[j];
		if (s) {
			free(name);
		} else {
			s = mem_add(c->stream, c->n_streams, c->streams_cap);
			*s = (struct live_stream){ .name = name };
		}
		s->id = live_u64(v);
		s->trace = live_u64(v + 2);
		s->metadata = v[4] != 0;
		s->open = true;
		c->stale |= s->metadata;
	}
	return 0;
}

/* Receives the new metadata of all traces. Returns 0, or -1 and *err. */
static int live_ask_metadata(struct live_client *c, struct err *err)
{
	for (size_t i = 0; i < c->n_streams; i++) {
		const struct live_stream *s = &c->stream[i];
		uint32_t v[3];

		while (s->open && s->metadata) {
			if (live_ask(c, METADATA, (uint32_t[]){ ID(s->id) }, 2,
				     v, 3, err))
				return -1;
			struct live_trace *t = live_trace_of(c, s->trace);
			uint64_t len = live_u64(v);
			size_t was = t->n;

			if (v[2] != OK || !len)
				break;
			if (len > METADATA_MAX - was)
				return live_bad(c, "metadata of bytes:", len,
						err);
			mem_grow(t->text, t->cap, was + len);
			if (live_get(c, t->text + was, len, err))
				return -1;
			t->n += len;
			if (t->here && live_write_metadata(c, t, was, err))
				return -1;
		}
	}
	c->stale = false;
	return 0;
}

static int live_ask_streams(struct live_client *c, struct err *err)
{
	uint32_t v[2];

	c->grown = false;
	if (live_ask(c, STREAMS, (uint32_t[]){ ID(c->session) }, 2, v, 2, err))
		return -1;
	c->ended |= v[0] == STREAMS_HUP;
	return v[0] == OK ? live_read_streams(c, v[1], err) : 0;
}

/* Receives the streams and the metadata that were announced: without that, the
 * daemon sends no packet. Returns 0, or -1 and *err. */
static int live_ask_news(struct live_client *c, struct err *err)
{
	if (c->grown && live_ask_streams(c, err))
		return -1;
	return c->stale ? live_ask_metadata(c, err) : 0;
}

static void live_note_flags(struct live_client *c, uint32_t flags)
{
	c->stale |= (flags & NEW_METADATA) != 0;
	c->grown |= (flags & NEW_STREAM) != 0;
}

/* Adds a packet of stream i to its file, in pieces. If the connection breaks,
 * the received bytes stay there, and the reader reports that it is cut off. */
static int live_ask_packet(struct live_client *c, size_t i, uint64_t off,
			   uint64_t size, struct err *err)
{
	static char buf[BLOCK];
	const struct live_stream *s = &c->stream[i];
	uint64_t id = s->id, trace = s->trace;
	struct live_trace *t = live_trace_of(c, trace);

	if (!t->here && live_begin_trace(c, t, err))
		return -1;
	/* ctf_stream_find_first_losses() reads this name */
	char *name OWNED =
		s->goes_on ? mem_printf("stream-%" PRIu64 ".after-%" PRIu64, id,
					s->after)
			   : mem_printf("stream-%" PRIu64, id);
	FILE *f = live_file(c, trace, name, err);

	uint32_t v[3];
	int rc = f ? 0 : -1;

	for (int tries = 0; !rc && size;) {
		uint32_t len = size < BLOCK ? (uint32_t)size : BLOCK;

		rc = live_ask(c, PACKET, (uint32_t[]){ ID(id), ID(off), len },
			      5, v, 3, err);
		if (rc)
			break;
		live_note_flags(c, v[2]);
		if (v[0] != OK) {
			struct timespec wait = { .tv_nsec = 10000000 };

			nanosleep(&wait, NULL);
			rc = ++tries > 100 ? live_bad(c, "no packet: status",
						      v[0], err)
					   : live_ask_news(c, err);
			continue;
		}
		if (!v[1] || v[1] > len) {
			rc = live_bad(c, "packet bytes:", v[1], err);
			break;
		}
		rc = live_get(c, buf, v[1], err);
		if (fwrite(buf, 1, c->got, f) != c->got && !rc)
			rc = err_set(err, ERR_FULL, "%s: %s", c->l->folder,
				     strerror(errno));
		off += v[1];
		size -= rc ? 0 : v[1];
		c->bytes += c->got;
	}
	if (f && fclose(f) && !rc)
		rc = err_set(err, ERR_FULL, "%s: %s", c->l->folder,
			     strerror(errno));
	return rc;
}

/* Receives the next packet of a stream. Returns 1, 0 if there is none now, -1
 * and *err. */
static int live_next(struct live_client *c, size_t i, struct err *err)
{
	struct live_stream *s = &c->stream[i];
	uint32_t v[16];

	if (live_ask(c, INDEX, (uint32_t[]){ ID(s->id) }, 2, v, 16, err))
		return -1;
	uint64_t size = live_u64(v + 2) / 8;
	uint64_t end = live_u64(v + 8);
	uint64_t was;

	if (v[14] == INDEX_HUP || v[14] == INDEX_ERR || v[14] == INDEX_EOF) {
		s->open = false;
		c->grown = true; /* to learn whether the session has ended */
		c->damaged |= v[14] == INDEX_ERR;
	}
	live_note_flags(c, v[15]);
	if (live_ask_news(c, err))
		return -1;
	s = &c->stream[i];
	if (v[14] != OK)
		return 0;
	if (size > PACKET_MAX)
		return live_bad(c, "a packet of bytes:", size, err);
	/* received before the connection broke */
	if (end <= s->end)
		return 1;
	was = c->bytes;
	if (live_ask_packet(c, i, live_u64(v), size, err)) {
		/* it is not received again: no event may be in two segments */
		if (c->bytes > was)
			c->stream[i].end = end;
		return -1;
	}
	c->stream[i].end = end;
	c->stream[i].discarded = live_u64(v + 10);
	return 1;
}

/* Finds the session, or returns -1 and *err, which lists those that exist. */
static int live_find(struct live_client *c, struct err *err)
{
	uint32_t v[5];
	struct {
		char node[64], name[NAME_MAX];
	} m;
	char *known OWNED = NULL;
	size_t len;
	bool found = false;
	uint32_t n;

	if (live_ask(c, LIST, NULL, 0, &n, 1, err))
		return -1;
	if (n > SESSIONS_MAX)
		return live_bad(c, "a number of sessions of", n, err);
	FILE *f = mem_stream(&known, &len);
	int rc = 0;

	for (uint32_t i = 0; !rc && i < n; i++) {
		if (live_numbers(c, v, 5, err) ||
		    live_get(c, &m, sizeof(m), err)) {
			rc = -1;
			break;
		}
		m.node[sizeof(m.node) - 1] = m.name[sizeof(m.name) - 1] = 0;
		fprintf(f, " host/%s/%s", m.node, m.name);
		if (strcmp(m.node, c->l->node) || strcmp(m.name, c->l->session))
			continue;
		found = true;
		c->session = live_u64(v);
	}
	mem_stream_end(f);
	if (!rc && !found)
		rc = err_set(err, ERR_USAGE,
			     "%s: no such session; the relay daemon has:%s",
			     c->l->url, n ? known : " none");
	return rc;
}

/* Connects and attaches: at first to packets from now on, as babeltrace2 does,
 * and again to the whole session: live_next() skips what was received. */
static int live_attach(struct live_client *c, bool again, struct err *err)
{
	static const uint32_t hello[5] = { 0, 0, 2, 4, 1 };
	uint32_t v[5];

	const struct addrinfo want = { .ai_family = c->l->family,
				       .ai_socktype = SOCK_STREAM };
	const struct timeval limit = { .tv_sec = REPLY_SECONDS };
	struct addrinfo *all = NULL;
	int bad = getaddrinfo(c->l->host, c->l->port, &want, &all);

	if (bad)
		return err_set(err, ERR_IO, "%s: %s", c->l->url,
			       gai_strerror(bad));
	c->fd = -1;
	for (struct addrinfo *a = all; a && c->fd < 0; a = a->ai_next) {
		c->fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &limit,
			   sizeof(limit));
		setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &limit,
			   sizeof(limit));
		bad = connect(c->fd, a->ai_addr, a->ai_addrlen) ? errno : 0;
		if (bad && c->fd >= 0) {
			close(c->fd);
			c->fd = -1;
		}
	}
	freeaddrinfo(all);
	if (c->fd < 0)
		return err_set(err, ERR_IO,
			       "%s: %s; does lttng-relayd run there?",
			       c->l->url, strerror(bad));
	if (live_ask(c, CONNECT, hello, 5, v, 5, err))
		return -1;
	if (v[2] != 2)
		return live_bad(c, "major version", v[2], err);
	if (live_find(c, err) || live_ask(c, CREATE, NULL, 0, v, 1, err))
		return -1;
	if (v[0] != OK)
		return live_bad(c, "no viewer session: status", v[0], err);
	for (size_t i = 0; i < c->n_streams; i++)
		c->stream[i].open = false;
	for (size_t i = 0; i < c->n_traces; i++)
		c->trace[i].n = 0;
	if (live_ask(c, ATTACH,
		     (uint32_t[]){ ID(c->session), 0, 0, again ? 1 : 2 }, 5, v,
		     2, err))
		return -1;
	if (v[0] != OK)
		return err_set(err, ERR_USAGE,
			       "%s: cannot attach: %s (status %" PRIu32 ")",
			       c->l->url,
			       v[0] == 2   ? "another viewer is"
			       : v[0] == 4 ? "no live session, which 'lttng "
					     "create --live' makes"
					   : "the relay daemon refuses",
			       v[0]);
	return live_read_streams(c, v[1], err);
}

/* Receives until a signal or the end of the session; on error returns -1. */
static int live_receive(struct live_client *c, struct err *err)
{
	const struct segment_limit *most = c->l->limit;

	for (bool open = true; !live_stopping && (open || !c->ended);) {
		bool any = false;

		open = false;
		if (live_ask_news(c, err))
			return -1;
		for (size_t i = 0; i < c->n_streams && !live_stopping; i++) {
			if (c->stream[i].metadata || !c->stream[i].open)
				continue;
			int ret = live_next(c, i, err);

			if (ret < 0)
				return -1;
			any |= ret > 0;
			open = true;
		}
		if ((most->ns && now_ns() - c->since >= most->ns) ||
		    (most->bytes && c->bytes >= most->bytes))
			live_end_chunk(c);
		if (!any) {
			struct timespec wait = { .tv_nsec = IDLE_MS * 1000000 };

			c->grown |= !open && !c->ended;
			nanosleep(&wait, NULL);
		}
	}
	return 0;
}

/* Runs the process that receives, once it is connected. */
static _Noreturn void live_run(struct live_client *c)
{
	const struct sigaction sa = { .sa_handler = live_on_signal };
	struct err err = { 0 };
	bool broken = false;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	signal(SIGHUP, SIG_IGN);
	live_end_chunk(c); /* a killed run may have left one */
	while (!live_stopping) {
		if (!broken && live_receive(c, &err)) {
			say(err.code == ERR_FULL
				    ? "backstitch: %s\n"
				    : "backstitch: %s; what it had not sent is "
				      "in no segment; trying again\n",
			    err.msg);
			live_end_chunk(c);
			broken = c->damaged = true;
		}
		if (!broken)
			break;
		if (c->fd >= 0)
			close(c->fd);
		c->fd = -1;
		/* a new connection makes no space on the disk */
		if (err.code == ERR_FULL)
			break;
		sleep(1);
		if (live_stopping || live_attach(c, true, &err))
			continue;
		broken = false;
		say("backstitch: %s: connected again\n", c->l->url);
	}
	live_end_chunk(c);
	_exit(c->damaged ? STATUS_DAMAGED : STATUS_OK);
}

bool live_is_url(const char *input)
{
	return !strncmp(input, "net://", 6) || !strncmp(input, "net4://", 7) ||
	       !strncmp(input, "net6://", 7);
}

/* Splits the URL, net[46]://HOST[:PORT]/host/NAME/SESSION. */
static int live_parse(struct live *l, struct err *err)
{
	char *url OWNED = mem_strdup(l->url);
	char *host = strstr(url, "://") + 3;
	char *node = strstr(host, "/host/");
	char *session = node ? strchr(node + 6, '/') : NULL;
	char *port = NULL;

	if (session && session[1]) {
		*node = *session = 0;
		char *end = *host == '[' ? strchr(host, ']') : NULL;

		port = strchr(end ? end : host, ':');
		if (port)
			*port++ = 0;
		if (end)
			*end = 0;
		l->family = url[3] == '4'   ? AF_INET
			    : url[3] == '6' ? AF_INET6
					    : AF_UNSPEC;
		l->host = mem_strdup(end ? host + 1 : host);
		l->port = mem_strdup(port ? port : PORT);
		l->node = mem_strdup(node + 6);
		l->session = mem_strdup(session + 1);
		/* getaddrinfo() takes the low 16 bits of a larger port */
		if (strtoul(l->port, NULL, 10) <= UINT16_MAX)
			return 0;
	}
	return err_set(err, ERR_USAGE,
		       "%s: a live session is "
		       "net://HOST[:PORT]/host/NAME/SESSION, as "
		       "'babeltrace2 -i lttng-live net://HOST' lists them",
		       l->url);
}

/* Makes the folder of chunks, named by the URL. Returns 0, or -1 and *err. */
static int live_make_folder(struct live *l, struct err *err)
{
	char *name OWNED =
		mem_printf(".live-%.200s", strstr(l->url, "://") + 3);

	for (char *p = name; *p; p++)
		if (*p == '/' || *p == '\n')
			*p = '_';
	l->folder = mem_printf("%s/%s", folder_lock_path(l->claim), name);
	char *archives OWNED = mem_printf("%s/archives", l->folder);

	if ((mkdir(l->folder, 0777) && errno != EEXIST) ||
	    (mkdir(archives, 0777) && errno != EEXIST))
		return err_set(err, ERR_IO, "%s: %s", archives,
			       strerror(errno));
	return 0;
}

struct live *live_open(const struct folder_lock *c, const char *url,
		       const struct segment_limit *limit, struct err *err)
{
	struct live *l = mem_new(1, sizeof(*l));
	struct live_client client = { .l = l, .fd = -1 };
	pid_t parent = getpid();

	*l = (struct live){ .claim = c, .url = url, .limit = limit };
	bool bad = live_parse(l, err) || live_attach(&client, false, err) ||
		   live_make_folder(l, err);

	fflush(NULL);
	if (!bad && !(l->pid = fork())) {
		child_end_with(parent, SIGTERM);
		live_run(&client);
	}
	if (l->pid < 0)
		bad = err_set(err, ERR_IO, "%s: %s", url, strerror(errno));
	if (client.fd >= 0)
		close(client.fd);
	for (size_t i = 0; i < client.n_streams; i++)
		free(client.stream[i].name);
	free(client.stream);
	if (!bad)
		return l;
	l->pid = 0;
	live_close(l);
	return NULL;
}

const char *live_folder(const struct live *l)
{
	return l->folder;
}

static void live_wait(struct live *l, int flags)
{
	int status;

	if (!l->pid || waitpid(l->pid, &status, flags) != l->pid)
		return;
	l->damaged |= status != 0;
	l->pid = 0;
}

bool live_ended(struct live *l)
{
	live_wait(l, WNOHANG);
	return !l->pid;
}

void live_stop(struct live *l)
{
	if (l->pid)
		kill(l->pid, SIGTERM);
	live_wait(l, 0);
}

bool live_damaged(const struct live *l)
{
	return l->damaged;
}

void live_close(struct live *l)
{
	if (!l)
		return;
	live_stop(l);
	free_all(l->host, l->port, l->node, l->session, l->folder, l);
}
