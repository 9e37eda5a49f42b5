/* mkcap.c - turns a readable capture.txt into a real perf.data, for tests.
 *
 * usage: mkcap [-b] [-p] IN OUT      -b: big-endian   -p: pipe form
 *
 * One record per line, as words key=value; "quotes" take \n \e \" \\ \xNN; a
 * # starts a comment. Numbers are as in C, addresses separated by commas.
 *
 *   event NAME [defer] [output] [notime] [nocpu] [nochain] [mono]
 *         [period=N]
 *   mmap pid= tid= start= len= pgoff= path= [kernel] [id=HEX] [time=] [cpu=]
 *   comm pid= tid= name= [exec] [time=] [cpu=]
 *   fork|exit pid= tid= ppid= ptid= time= cpu=
 *   sample [event=NAME] pid= tid= cpu= time= [ip=] [k=A,..] [u=A,..]
 *          [cookie=C] [marker] [period=N]
 *   chain cookie=C pid= tid= cpu= time= u=A,..
 *   lost n= cpu= time=          a ring that was full
 *   round                       FINISHED_ROUND
 *   raw type= misc= hex=BYTES   any other record
 *
 * A line 'task PID' makes the capture a session of one process; without it the
 * session is of all four CPUs. A cookie is CPU:COUNTER, in the kernel's layout
 * for the byte order of the file. defer: the event asks for deferred user
 * stacks; output: they are written for this event; mono: its clock is
 * CLOCK_MONOTONIC. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mktext.h"

#define MAX_EVENTS 16
#define CPUS 4
#define HEADER_SIZE 104
#define ATTR_SIZE 128
#define CLOCKID_AT 92
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)
#define CONTEXT_DEFERRED ((uint64_t)-640)

/* perf_event_attr.sample_type */
enum {
	S_IP = 1 << 0,
	S_TID = 1 << 1,
	S_TIME = 1 << 2,
	S_CHAIN = 1 << 5,
	S_CPU = 1 << 7,
	S_PERIOD = 1 << 8,
	S_IDENTIFIER = 1 << 16
};

/* bits of perf_event_attr's flag word */
enum {
	A_MMAP = 8,
	A_COMM = 9,
	A_TASK = 13,
	A_ID_ALL = 18,
	A_MMAP2 = 23,
	A_COMM_EXEC = 24,
	A_USE_CLOCKID = 25,
	A_DEFER = 38,
	A_DEFER_OUTPUT = 39
};

struct event {
	char name[64];
	uint64_t sample_type, flags, period;
};

static struct {
	bool pipe, per_task;
	uint64_t task;
	struct event event[MAX_EVENTS];
	int n_events;
	struct buf data;
} cap;

static uint64_t mkcap_cookie(const struct line *l)
{
	const char *s = mktext_need(l, "cookie");
	char *end;
	uint64_t cpu = mktext_parse(l, s, &end);
	if (*end != ':')
		return cpu;
	uint64_t count = mktext_parse(l, end + 1, &end);
	return big ? (cpu + 1) << 32 | count : count << 32 | (cpu + 1);
}

/* Returns the event of a line: the one it names, otherwise the sampling event
 * for a sample, and the event with 'output' for any other record. */
static int mkcap_event_of(const struct line *l, bool sample)
{
	const char *name = mktext_find(l, "event");
	int found = 0;
	for (int i = 0; i < cap.n_events; i++) {
		const struct event *e = &cap.event[i];
		if (name && !strcmp(e->name, name))
			return i;
		if (e->flags >> A_DEFER_OUTPUT & 1)
			found = i;
	}
	if (name)
		die(l, "no event", name);
	return sample ? 0 : found;
}

/* Every event has an id on every CPU. */
static uint64_t mkcap_id_of(int event, uint64_t cpu)
{
	return (uint64_t)event * CPUS + cpu % CPUS + 1;
}

static void mkcap_put_record(const struct line *l, unsigned int type,
			     unsigned int misc, const struct buf *body)
{
	if (body->len + 8 > UINT16_MAX)
		die(l, "record too long:", l->word[0]);
	mktext_put32(&cap.data, type);
	put16(&cap.data, misc);
	put16(&cap.data, body->len + 8);
	mktext_put(&cap.data, body->data, body->len);
}

/* Writes the sample_id at the end of a record that is not a sample. */
static void put_trailer(struct buf *b, const struct line *l)
{
	int i = mkcap_event_of(l, false);
	uint64_t type = cap.event[i].sample_type;
	if (type & S_TID) {
		mktext_put32(b, mktext_number(l, "pid", (uint64_t)-1));
		mktext_put32(b, mktext_number(l, "tid", (uint64_t)-1));
	}
	if (type & S_TIME)
		mktext_put64(b, mktext_number(l, "time", 0));
	if (type & S_CPU) {
		mktext_put32(b, mktext_number(l, "cpu", 0));
		mktext_put32(b, 0);
	}
	mktext_put64(b, mkcap_id_of(i, mktext_number(l, "cpu", 0)));
}

static void mkcap_add_event(const struct line *l)
{
	if (cap.n_events == MAX_EVENTS || l->n < 2)
		die(l, "one event too many, or without name:", l->word[0]);
	struct event *e = &cap.event[cap.n_events++];
	snprintf(e->name, sizeof(e->name), "%s", l->word[1]);
	e->sample_type = S_IP | S_TID | S_TIME | S_CHAIN | S_CPU | S_PERIOD |
			 S_IDENTIFIER;
	e->flags = 1ull << A_ID_ALL;
	if (mktext_find(l, "notime"))
		e->sample_type &= ~(uint64_t)S_TIME;
	if (mktext_find(l, "nocpu"))
		e->sample_type &= ~(uint64_t)S_CPU;
	if (mktext_find(l, "nochain"))
		e->sample_type &= ~(uint64_t)S_CHAIN;
	if (mktext_find(l, "mono"))
		e->flags |= 1ull << A_USE_CLOCKID;
	if (mktext_find(l, "defer"))
		e->flags |= 1ull << A_DEFER;
	if (mktext_find(l, "output")) {
		e->sample_type &= ~(uint64_t)(S_CHAIN | S_PERIOD);
		e->flags |= 1ull << A_DEFER_OUTPUT | 1ull << A_MMAP |
			    1ull << A_COMM | 1ull << A_TASK | 1ull << A_MMAP2 |
			    1ull << A_COMM_EXEC;
	}
	e->period = mktext_number(l, "period", 1);
}

static void mkcap_put_chain(struct buf *b, const struct line *l)
{
	uint64_t k[MAX_ADDRS], u[MAX_ADDRS];
	size_t nk = mktext_addresses(l, "k", k),
	       nu = mktext_addresses(l, "u", u);
	bool marker = mktext_find(l, "cookie") || mktext_find(l, "marker");
	mktext_put64(b, (nk ? nk + 1 : 0) + (mktext_find(l, "u") ? nu + 1 : 0) +
				marker + (mktext_find(l, "cookie") ? 1 : 0));
	if (nk)
		mktext_put64(b, CONTEXT_KERNEL);
	for (size_t i = 0; i < nk; i++)
		mktext_put64(b, k[i]);
	if (mktext_find(l, "u"))
		mktext_put64(b, CONTEXT_USER);
	for (size_t i = 0; i < nu; i++)
		mktext_put64(b, u[i]);
	if (marker)
		mktext_put64(b, CONTEXT_DEFERRED);
	if (mktext_find(l, "cookie"))
		mktext_put64(b, mkcap_cookie(l));
}

static void add_sample(const struct line *l)
{
	struct buf b = { 0 };
	int i = mkcap_event_of(l, true);
	const struct event *e = &cap.event[i];
	uint64_t addr[MAX_ADDRS];
	uint64_t ip = mktext_addresses(l, "k", addr) ? addr[0] : 0;
	unsigned int misc = ip ? 1 : 2;
	if (!ip && mktext_addresses(l, "u", addr))
		ip = addr[0];
	mktext_put64(&b, mkcap_id_of(i, mktext_number(l, "cpu", 0)));
	mktext_put64(&b, mktext_number(l, "ip", ip));
	mktext_put32(&b, mktext_number(l, "pid", (uint64_t)-1));
	mktext_put32(&b, mktext_number(l, "tid", (uint64_t)-1));
	if (e->sample_type & S_TIME)
		mktext_put64(&b, mktext_number(l, "time", 0));
	if (e->sample_type & S_CPU) {
		mktext_put32(&b, mktext_number(l, "cpu", 0));
		mktext_put32(&b, 0);
	}
	if (e->sample_type & S_PERIOD)
		mktext_put64(&b, mktext_number(l, "period", 1));
	if (e->sample_type & S_CHAIN)
		mkcap_put_chain(&b, l);
	mkcap_put_record(l, 9, misc, &b);
	free(b.data);
}

static void add_deferred(const struct line *l)
{
	struct buf b = { 0 };
	uint64_t u[MAX_ADDRS];
	size_t n = mktext_addresses(l, "u", u);
	mktext_put64(&b, mkcap_cookie(l));
	mktext_put64(&b, n);
	for (size_t i = 0; i < n; i++)
		mktext_put64(&b, u[i]);
	put_trailer(&b, l);
	mkcap_put_record(l, 22, 2, &b);
	free(b.data);
}

static size_t hex_bytes(const struct line *l, const char *s, unsigned char *out,
			size_t max)
{
	size_t n = 0;
	for (; s[0] && s[1]; s += 2) {
		char two[3] = { s[0], s[1], 0 }, *end;
		if (n == max)
			die(l, "too many bytes:", s);
		out[n++] = (unsigned char)strtoul(two, &end, 16);
		if (*end)
			die(l, "not hex:", two);
	}
	return n;
}

static void add_mmap(const struct line *l)
{
	struct buf b = { 0 };
	const char *id = mktext_find(l, "id"), *path = mktext_need(l, "path");
	mktext_put32(&b, mktext_number(l, "pid", (uint64_t)-1));
	mktext_put32(&b, mktext_number(l, "tid", mktext_number(l, "pid", 0)));
	mktext_put64(&b, mktext_number(l, "start", 0));
	mktext_put64(&b, mktext_number(l, "len", 0x1000));
	mktext_put64(&b, mktext_number(l, "pgoff", 0));
	if (id) {
		unsigned char bytes[24] = { 0 };
		bytes[0] = (unsigned char)hex_bytes(l, id, bytes + 4, 20);
		mktext_put(&b, bytes, sizeof(bytes));
	} else {
		mktext_put32(&b, 8);
		mktext_put32(&b, 1);
		mktext_put64(&b, mktext_number(l, "ino", 1000));
		mktext_put64(&b, 0);
	}
	mktext_put32(&b, mktext_number(l, "prot", 5));
	mktext_put32(&b, mktext_number(l, "flags", 2));
	mktext_put(&b, path, strlen(path) + 1);
	mktext_pad(&b, 8);
	put_trailer(&b, l);
	mkcap_put_record(
		l, 10, (mktext_find(l, "kernel") ? 1 : 2) | (id ? 1 << 14 : 0),
		&b);
	free(b.data);
}

static void mkcap_add_comm(const struct line *l)
{
	struct buf b = { 0 };
	const char *name = mktext_need(l, "name");
	mktext_put32(&b, mktext_number(l, "pid", 0));
	mktext_put32(&b, mktext_number(l, "tid", mktext_number(l, "pid", 0)));
	mktext_put(&b, name, strlen(name) + 1);
	mktext_pad(&b, 8);
	put_trailer(&b, l);
	mkcap_put_record(l, 3, mktext_find(l, "exec") ? 1 << 13 : 0, &b);
	free(b.data);
}

static void add_task(const struct line *l)
{
	struct buf b = { 0 };
	mktext_put32(&b, mktext_number(l, "pid", 0));
	mktext_put32(&b, mktext_number(l, "ppid", 0));
	mktext_put32(&b, mktext_number(l, "tid", mktext_number(l, "pid", 0)));
	mktext_put32(&b, mktext_number(l, "ptid", mktext_number(l, "ppid", 0)));
	mktext_put64(&b, mktext_number(l, "time", 0));
	put_trailer(&b, l);
	mkcap_put_record(l, strcmp(l->word[0], "fork") ? 4 : 7, 0, &b);
	free(b.data);
}

static void add_lost(const struct line *l)
{
	struct buf b = { 0 };
	mktext_put64(&b, mkcap_id_of(mkcap_event_of(l, false),
				     mktext_number(l, "cpu", 0)));
	mktext_put64(&b, mktext_number(l, "n", 1));
	put_trailer(&b, l);
	mkcap_put_record(l, 2, 0, &b);
	free(b.data);
}

static void add_round(const struct line *l)
{
	struct buf b = { 0 };
	mkcap_put_record(l, 68, 0, &b);
}

static void add_task_session(const struct line *l)
{
	char *end;
	if (l->n < 2)
		die(l, "needs a pid:", l->word[0]);
	cap.per_task = true;
	cap.task = mktext_parse(l, l->word[1], &end);
}

static void mkcap_add_raw(const struct line *l)
{
	unsigned char bytes[4096];
	struct buf b = { 0 };
	mktext_put(&b, bytes,
		   hex_bytes(l, mktext_need(l, "hex"), bytes, sizeof(bytes)));
	mkcap_put_record(l, (unsigned int)mktext_number(l, "type", 0),
			 (unsigned int)mktext_number(l, "misc", 0), &b);
	free(b.data);
}

static void mkcap_add(const struct line *l)
{
	static const struct {
		const char *name;
		void (*add)(const struct line *l);
	} kind[] = {
		{ "event", mkcap_add_event }, { "sample", add_sample },
		{ "chain", add_deferred },    { "mmap", add_mmap },
		{ "comm", mkcap_add_comm },   { "fork", add_task },
		{ "exit", add_task },	      { "lost", add_lost },
		{ "round", add_round },	      { "raw", mkcap_add_raw },
		{ "task", add_task_session },
	};
	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		if (strcmp(kind[i].name, l->word[0]))
			continue;
		if (!cap.n_events && kind[i].add != mkcap_add_event &&
		    kind[i].add != add_task_session)
			die(l, "needs an event before", l->word[0]);
		kind[i].add(l);
		return;
	}
	die(l, "no such record:", l->word[0]);
}

static uint64_t flag_word(uint64_t flags)
{
	uint64_t out = 0;
	if (!big)
		return flags;
	/* big-endian compilers allocate bit-fields from the top bit */
	for (int i = 0; i < 64; i++)
		if (flags >> i & 1)
			out |= 1ull << (63 - i);
	return out;
}

static void mkcap_put_attr(struct buf *b, const struct event *e)
{
	size_t start = b->len;
	mktext_put32(b, 1); /* PERF_TYPE_SOFTWARE */
	mktext_put32(b, ATTR_SIZE);
	mktext_put64(b, e->flags >> A_DEFER_OUTPUT & 1 ? 9 : 0);
	mktext_put64(b, e->period);
	mktext_put64(b, e->sample_type);
	mktext_put64(b, 0);
	mktext_put64(b, flag_word(e->flags));
	while (b->len - start < CLOCKID_AT)
		mktext_put32(b, 0);
	mktext_put32(
		b, e->flags >> A_USE_CLOCKID & 1 ? 1 : 0); /* CLOCK_MONOTONIC */
	while (b->len - start < ATTR_SIZE)
		mktext_put32(b, 0);
}

static void mkcap_put_string(struct buf *b, const char *s)
{
	size_t len = (strlen(s) + 64) / 64 * 64;
	mktext_put32(b, len);
	mktext_put(b, s, strlen(s) + 1);
	for (size_t i = strlen(s) + 1; i < len; i++)
		mktext_put(b, "", 1);
}

static void mkcap_put_ids(struct buf *b, int event)
{
	for (uint64_t cpu = 0; cpu < CPUS; cpu++)
		mktext_put64(b, mkcap_id_of(event, cpu));
}

static void mkcap_put_event_desc(struct buf *b)
{
	mktext_put32(b, (uint64_t)cap.n_events);
	mktext_put32(b, ATTR_SIZE);
	for (int i = 0; i < cap.n_events; i++) {
		mkcap_put_attr(b, &cap.event[i]);
		mktext_put32(b, CPUS);
		mkcap_put_string(b, cap.event[i].name);
		mkcap_put_ids(b, i);
	}
}

/* Feature bits 3 to 12, as far as these tests need them. */
static bool mkcap_put_feature(struct buf *b, int bit)
{
	switch (bit) {
	case 3:
		mkcap_put_string(b, "testhost");
		return true;
	case 4:
		mkcap_put_string(b, "7.2.0");
		return true;
	case 5:
		mkcap_put_string(b, "7.2.0");
		return true;
	case 6:
		mkcap_put_string(b, big ? "s390x" : "x86_64");
		return true;
	case 7:
		mktext_put32(b, CPUS);
		mktext_put32(b, CPUS);
		return true;
	case 12:
		mkcap_put_event_desc(b);
		return true;
	default:
		return false;
	}
}

/* Writes the records that perf record writes before the first event of the
 * kernel: the ids of the events, and the recorded threads and CPUs. */
static void mkcap_put_session(void)
{
	struct line l = { .word = { (char[]){ "session" } }, .n = 1 };
	struct buf b = { 0 };
	uint64_t tid = cap.per_task ? cap.task : (uint64_t)-1;
	mktext_put64(&b, (uint64_t)cap.n_events * CPUS);
	for (int i = 0; i < cap.n_events; i++) {
		for (uint64_t cpu = 0; cpu < CPUS; cpu++) {
			mktext_put64(&b, mkcap_id_of(i, cpu));
			mktext_put64(&b, cpu);
			mktext_put64(&b, cpu);
			mktext_put64(&b, tid);
		}
	}
	mkcap_put_record(&l, 69, 0, &b);
	b.len = 0;
	mktext_put64(&b, 1);
	mktext_put64(&b, tid);
	mktext_put64(&b, 0);
	mktext_put64(&b, 0);
	mkcap_put_record(&l, 73, 0, &b);
	b.len = 0;
	put16(&b, 0);
	put16(&b, CPUS);
	for (uint64_t cpu = 0; cpu < CPUS; cpu++)
		put16(&b, cpu);
	mktext_pad(&b, 8);
	mkcap_put_record(&l, 74, 0, &b);
	free(b.data);
}

static void finish_file(struct buf *out)
{
	struct buf attrs = { 0 }, ids = { 0 }, table = { 0 }, blob = { 0 };
	uint64_t bits = 0, n = (uint64_t)cap.n_events;
	struct buf records = cap.data;
	cap.data = (struct buf){ 0 };
	mkcap_put_session();
	mktext_put(&cap.data, records.data, records.len);
	free(records.data);
	uint64_t attrs_at = HEADER_SIZE + 8 * CPUS * n;
	uint64_t data_at = attrs_at + n * (ATTR_SIZE + 16);
	for (int i = 0; i < cap.n_events; i++) {
		mkcap_put_attr(&attrs, &cap.event[i]);
		mktext_put64(&attrs, HEADER_SIZE + 8 * CPUS * (uint64_t)i);
		mktext_put64(&attrs, 8 * CPUS);
		mkcap_put_ids(&ids, i);
	}
	uint64_t at = data_at + cap.data.len + 6 * 16;
	for (int bit = 0; bit < 32; bit++) {
		size_t start = blob.len;
		if (!mkcap_put_feature(&blob, bit))
			continue;
		bits |= 1ull << bit;
		mktext_put64(&table, at + start);
		mktext_put64(&table, blob.len - start);
	}
	mktext_put64(out, 0x32454c4946524550);
	mktext_put64(out, HEADER_SIZE);
	mktext_put64(out, ATTR_SIZE + 16);
	mktext_put64(out, attrs_at);
	mktext_put64(out, attrs.len);
	mktext_put64(out, data_at);
	mktext_put64(out, cap.data.len);
	mktext_put64(out, 0);
	mktext_put64(out, 0);
	mktext_put64(out, bits);
	mktext_put64(out, 0);
	mktext_put64(out, 0);
	mktext_put64(out, 0);
	mktext_put(out, ids.data, ids.len);
	mktext_put(out, attrs.data, attrs.len);
	mktext_put(out, cap.data.data, cap.data.len);
	mktext_put(out, table.data, table.len);
	mktext_put(out, blob.data, blob.len);
	free(attrs.data);
	free(ids.data);
	free(table.data);
	free(blob.data);
}

static void finish_pipe(struct buf *out)
{
	struct buf data = cap.data;
	cap.data = (struct buf){ 0 };
	struct line l = { .word = { (char[]){ "header" } }, .n = 1 };
	for (int i = 0; i < cap.n_events; i++) {
		struct buf b = { 0 };
		mkcap_put_attr(&b, &cap.event[i]);
		mkcap_put_ids(&b, i);
		mkcap_put_record(&l, 64, 0, &b);
		b.len = 0;
		mktext_put64(&b, 2); /* the event's name */
		mktext_put64(&b, mkcap_id_of(i, 0));
		mktext_put(&b, cap.event[i].name,
			   strlen(cap.event[i].name) + 1);
		mktext_pad(&b, 8);
		mkcap_put_record(&l, 78, 0, &b);
		free(b.data);
	}
	for (int bit = 0; bit < 12; bit++) {
		struct buf b = { 0 };
		mktext_put64(&b, (uint64_t)bit);
		if (mkcap_put_feature(&b, bit))
			mkcap_put_record(&l, 80, 0, &b);
		free(b.data);
	}
	mkcap_put_session();
	mktext_put64(out, 0x32454c4946524550);
	mktext_put64(out, 16);
	mktext_put(out, cap.data.data, cap.data.len);
	mktext_put(out, data.data, data.len);
	free(data.data);
}

int main(int argc, char **argv)
{
	struct buf out = { 0 };
	int i = 1;
	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (!strcmp(argv[i], "-b"))
			big = true;
		else if (!strcmp(argv[i], "-p"))
			cap.pipe = true;
		else
			die(NULL, "unknown option", argv[i]);
	}
	if (argc - i != 2) {
		fputs("usage: mkcap [-b] [-p] IN OUT\n", stderr);
		return 2;
	}
	read_lines(argv[i], mkcap_add);
	if (cap.pipe)
		finish_pipe(&out);
	else
		finish_file(&out);
	write_file(argv[i + 1], &out);
	free(out.data);
	free(cap.data.data);
	return 0;
}
