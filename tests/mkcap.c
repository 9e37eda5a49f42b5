/* mkcap.c - turns a readable capture.txt into a real perf.data, for tests.
 *
 * usage: mkcap [-b] [-p] IN OUT      -b: big-endian   -p: pipe form
 *
 * One record per line, as words key=value; "quotes" take \n \e \" \\ \xNN; a
 * # starts a comment. Numbers are as in C, addresses separated by commas.
 *
 *   event NAME [defer] [output] [notime] [nocpu] [nochain] [mono] [switches]
 *         [period=N] [frames=N: the kernel keeps no more]
 *   mmap pid= tid= start= len= pgoff= path= [kernel] [id=HEX] [ino=] [maj=]
 *        [min=] [gen=] [time=] [cpu=] [last: perf listed no further one]
 *   ksymbol start= len= name= [time=] [cpu=] [gone]   of BPF
 *   comm pid= tid= name= [exec] [time=] [cpu=]
 *   fork|exit pid= tid= ppid= ptid= time= cpu=
 *   sample [event=NAME] pid= tid= cpu= time= [ip=] [k=A,..] [u=A,..]
 *          [cookie=C] [marker] [period=N]
 *   chain cookie=C pid= tid= cpu= time= u=A,..
 *   lost n= cpu= time=          a ring that was full
 *   switch in|out pid= tid= cpu= time=   of a thread, as --switch-events
 *   round                       FINISHED_ROUND
 *   host NAME RELEASE           the recorded machine (this one with 7.2.0)
 *   cmdline WORD...             of perf, in the header
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
#include <sys/utsname.h>

#include "tests/mktext.h"
#include "tests/perf_write.h"

#define MAX_EVENTS 16
#define CPUS 4
#define ATTR_SIZE 128
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)
#define CONTEXT_DEFERRED ((uint64_t)-640)

/* Bits of perf_event_attr's flag word that the reader does not look at. */
enum {
	A_COMM = 1 << 9,
	A_TASK = 1 << 13,
	A_MMAP2 = 1 << 23,
	A_COMM_EXEC = 1 << 24,
	A_CONTEXT_SWITCH = 1 << 26
};

static struct {
	bool big, pipe, per_task;
	uint64_t task;
	char host[128], release[128];
	struct line cmdline;
	struct pb_event event[MAX_EVENTS];
	char name[MAX_EVENTS][64];
	size_t n_events;
	struct pb data;
} cap = {
	/* a file tells the size of an attr even if it has none */
	.event[0].attr_size = ATTR_SIZE,
	.release = "7.2.0",
};

static uint64_t mkcap_cookie(const struct line *l)
{
	const char *s = mktext_need(l, "cookie");
	char *end;
	uint64_t cpu = mktext_parse(l, s, &end);
	if (*end != ':')
		return cpu;
	uint64_t count = mktext_parse(l, end + 1, &end);
	return cap.big ? (cpu + 1) << 32 | count : count << 32 | (cpu + 1);
}

/* Returns the event of a line: the one it names, otherwise the sampling event
 * for a sample, and the event with 'output' for any other record. */
static size_t mkcap_event_of(const struct line *l, bool sample)
{
	const char *name = mktext_find(l, "event");
	size_t found = 0;
	for (size_t i = 0; i < cap.n_events; i++) {
		if (name && !strcmp(cap.name[i], name))
			return i;
		if (cap.event[i].flags & PA_DEFER_OUTPUT)
			found = i;
	}
	if (name)
		die(l, "no event", name);
	return sample ? 0 : found;
}

/* Every event has an id on every CPU. */
static uint64_t mkcap_id_of(size_t event, uint64_t cpu)
{
	return event * CPUS + cpu % CPUS + 1;
}

static void mkcap_rec(uint32_t type, uint64_t misc)
{
	pb_rec(&cap.data, type, (uint16_t)misc);
}

static void mkcap_end(const struct line *l)
{
	if (cap.data.n - cap.data.rec > UINT16_MAX)
		die(l, "record too long:", l->word[0]);
	pb_end(&cap.data);
}

/* Time and CPU, which samples and the sample_id of other records have. */
static void mkcap_put_when(const struct line *l, uint64_t type)
{
	struct pb *b = &cap.data;

	if (type & PS_TIME)
		mktext_put64(b, l, "time", 0);
	if (type & PS_CPU) {
		mktext_put32(b, l, "cpu", 0);
		pb_u32(b, 0);
	}
}

/* Ends a record that is not a sample with its sample_id. */
static void end_with_trailer(const struct line *l)
{
	struct pb *b = &cap.data;
	size_t i = mkcap_event_of(l, false);
	uint64_t type = cap.event[i].sample_type;
	if (type & PS_TID) {
		mktext_put32(b, l, "pid", (uint64_t)-1);
		mktext_put32(b, l, "tid", (uint64_t)-1);
	}
	mkcap_put_when(l, type);
	pb_u64(b, mkcap_id_of(i, mktext_number(l, "cpu", 0)));
	mkcap_end(l);
}

static void mkcap_add_event(const struct line *l)
{
	if (cap.n_events == MAX_EVENTS || l->n < 2)
		die(l, "one event too many, or without name:", l->word[0]);
	struct pb_event *e = &cap.event[cap.n_events];
	snprintf(cap.name[cap.n_events], sizeof(cap.name[0]), "%s", l->word[1]);
	e->type = 1; /* PERF_TYPE_SOFTWARE */
	e->attr_size = ATTR_SIZE;
	e->sample_type = PS_IP | PS_TID | PS_TIME | PS_CALLCHAIN | PS_CPU |
			 PS_PERIOD | PS_IDENTIFIER;
	e->flags = PA_SAMPLE_ID_ALL;
	if (mktext_find(l, "notime"))
		e->sample_type &= ~PS_TIME;
	if (mktext_find(l, "nocpu"))
		e->sample_type &= ~PS_CPU;
	if (mktext_find(l, "nochain"))
		e->sample_type &= ~PS_CALLCHAIN;
	if (mktext_find(l, "mono")) {
		e->flags |= PA_USE_CLOCKID;
		e->clockid = 1; /* CLOCK_MONOTONIC */
	}
	if (mktext_find(l, "defer"))
		e->flags |= PA_DEFER;
	if (mktext_find(l, "switches"))
		e->flags |= A_CONTEXT_SWITCH;
	if (mktext_find(l, "output")) {
		e->config = 9; /* PERF_COUNT_SW_DUMMY */
		e->sample_type &= ~(PS_CALLCHAIN | PS_PERIOD);
		e->flags |= PA_DEFER_OUTPUT | PA_MMAP | A_COMM | A_TASK |
			    A_MMAP2 | A_COMM_EXEC;
	}
	e->period = mktext_number(l, "period", 1);
	e->max_stack = (uint16_t)mktext_number(l, "frames", 0);
	for (; e->n_ids < CPUS; e->n_ids++)
		e->ids[e->n_ids] = mkcap_id_of(cap.n_events, e->n_ids);
	cap.n_events++;
}

static void mkcap_put_chain(const struct line *l)
{
	struct pb *b = &cap.data;
	uint64_t k[MAX_ADDRS], u[MAX_ADDRS];
	size_t nk = mktext_addresses(l, "k", k),
	       nu = mktext_addresses(l, "u", u);
	bool marker = mktext_find(l, "cookie") || mktext_find(l, "marker");
	pb_u64(b, (nk ? nk + 1 : 0) + (mktext_find(l, "u") ? nu + 1 : 0) +
			  marker + (mktext_find(l, "cookie") ? 1 : 0));
	if (nk)
		pb_u64(b, CONTEXT_KERNEL);
	pb_u64s(b, k, nk);
	if (mktext_find(l, "u"))
		pb_u64(b, CONTEXT_USER);
	pb_u64s(b, u, nu);
	if (marker)
		pb_u64(b, CONTEXT_DEFERRED);
	if (mktext_find(l, "cookie"))
		pb_u64(b, mkcap_cookie(l));
}

static void add_sample(const struct line *l)
{
	struct pb *b = &cap.data;
	size_t i = mkcap_event_of(l, true);
	uint64_t type = cap.event[i].sample_type;
	uint64_t addr[MAX_ADDRS];
	uint64_t ip = mktext_addresses(l, "k", addr) ? addr[0] : 0;
	mkcap_rec(PR_SAMPLE, ip ? 1 : 2);
	if (!ip && mktext_addresses(l, "u", addr))
		ip = addr[0];
	pb_u64(b, mkcap_id_of(i, mktext_number(l, "cpu", 0)));
	mktext_put64(b, l, "ip", ip);
	mktext_put32(b, l, "pid", (uint64_t)-1);
	mktext_put32(b, l, "tid", (uint64_t)-1);
	mkcap_put_when(l, type);
	if (type & PS_PERIOD)
		mktext_put64(b, l, "period", 1);
	if (type & PS_CALLCHAIN)
		mkcap_put_chain(l);
	mkcap_end(l);
}

static void add_deferred(const struct line *l)
{
	struct pb *b = &cap.data;
	uint64_t u[MAX_ADDRS];
	size_t n = mktext_addresses(l, "u", u);
	mkcap_rec(PR_CALLCHAIN_DEFERRED, 2);
	pb_u64(b, mkcap_cookie(l));
	pb_u64(b, n);
	pb_u64s(b, u, n);
	end_with_trailer(l);
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
	struct pb *b = &cap.data;
	const char *id = mktext_find(l, "id"), *path = mktext_need(l, "path");
	mkcap_rec(PR_MMAP2, (mktext_find(l, "kernel") ? 1 : 2) |
				    (mktext_find(l, "last") ? 1 << 12 : 0) |
				    (id ? 1 << 14 : 0));
	mktext_put32(b, l, "pid", (uint64_t)-1);
	mktext_put32(b, l, "tid", mktext_number(l, "pid", 0));
	mktext_put64(b, l, "start", 0);
	mktext_put64(b, l, "len", 0x1000);
	mktext_put64(b, l, "pgoff", 0);
	if (id) {
		unsigned char bytes[24] = { 0 };
		bytes[0] = (unsigned char)hex_bytes(l, id, bytes + 4, 20);
		pb_raw(b, bytes, sizeof(bytes));
	} else {
		mktext_put32(b, l, "maj", 8);
		mktext_put32(b, l, "min", 1);
		mktext_put64(b, l, "ino", 1000);
		mktext_put64(b, l, "gen", 0);
	}
	mktext_put32(b, l, "prot", 5);
	mktext_put32(b, l, "flags", 2);
	pb_str(b, path);
	end_with_trailer(l);
}

static void mkcap_add_ksymbol(const struct line *l)
{
	struct pb *b = &cap.data;
	mkcap_rec(17 /* PERF_RECORD_KSYMBOL */, 0);
	mktext_put64(b, l, "start", 0);
	mktext_put32(b, l, "len", 0x1000);
	/* two halves of a word: type and flags */
	pb_u16(b, 1);
	pb_u16(b, mktext_find(l, "gone") ? 1 : 0);
	pb_str(b, mktext_need(l, "name"));
	end_with_trailer(l);
}

static void mkcap_add_comm(const struct line *l)
{
	struct pb *b = &cap.data;
	mkcap_rec(PR_COMM, mktext_find(l, "exec") ? 1 << 13 : 0);
	mktext_put32(b, l, "pid", 0);
	mktext_put32(b, l, "tid", mktext_number(l, "pid", 0));
	pb_str(b, mktext_need(l, "name"));
	end_with_trailer(l);
}

static void add_task(const struct line *l)
{
	struct pb *b = &cap.data;
	mkcap_rec(strcmp(l->word[0], "fork") ? PR_EXIT : PR_FORK, 0);
	mktext_put32(b, l, "pid", 0);
	mktext_put32(b, l, "ppid", 0);
	mktext_put32(b, l, "tid", mktext_number(l, "pid", 0));
	mktext_put32(b, l, "ptid", mktext_number(l, "ppid", 0));
	mktext_put64(b, l, "time", 0);
	end_with_trailer(l);
}

static void add_lost(const struct line *l)
{
	struct pb *b = &cap.data;
	mkcap_rec(PR_LOST, 0);
	pb_u64(b, mkcap_id_of(mkcap_event_of(l, false),
			      mktext_number(l, "cpu", 0)));
	mktext_put64(b, l, "n", 1);
	end_with_trailer(l);
}

static void mkcap_add_switch(const struct line *l)
{
	mkcap_rec(14 /* PERF_RECORD_SWITCH */,
		  mktext_find(l, "out") ? 1 << 13 : 0);
	end_with_trailer(l);
}

static void add_round(const struct line *l)
{
	mkcap_rec(PR_FINISHED_ROUND, 0);
	mkcap_end(l);
}

static void add_task_session(const struct line *l)
{
	char *end;
	if (l->n < 2)
		die(l, "needs a pid:", l->word[0]);
	cap.per_task = true;
	cap.task = mktext_parse(l, l->word[1], &end);
}

static void mkcap_add_cmdline(const struct line *l)
{
	cap.cmdline = *l;
	for (int i = 1; i < l->n; i++)
		cap.cmdline.word[i] = strdup(l->word[i]);
}

static void mkcap_add_host(const struct line *l)
{
	if (l->n < 3)
		die(l, "needs a name and a release:", l->word[0]);
	snprintf(cap.host, sizeof(cap.host), "%s", l->word[1]);
	snprintf(cap.release, sizeof(cap.release), "%s", l->word[2]);
}

static void mkcap_add_raw(const struct line *l)
{
	unsigned char bytes[4096];
	size_t n = hex_bytes(l, mktext_need(l, "hex"), bytes, sizeof(bytes));
	mkcap_rec((uint32_t)mktext_number(l, "type", 0),
		  mktext_number(l, "misc", 0));
	pb_raw(&cap.data, bytes, n);
	mkcap_end(l);
}

static void mkcap_add(const struct line *l)
{
	static const struct {
		const char *name;
		void (*add)(const struct line *l);
	} kind[] = {
		{ "event", mkcap_add_event },
		{ "sample", add_sample },
		{ "chain", add_deferred },
		{ "mmap", add_mmap },
		{ "ksymbol", mkcap_add_ksymbol },
		{ "comm", mkcap_add_comm },
		{ "fork", add_task },
		{ "exit", add_task },
		{ "lost", add_lost },
		{ "switch", mkcap_add_switch },
		{ "round", add_round },
		{ "raw", mkcap_add_raw },
		{ "task", add_task_session },
		{ "host", mkcap_add_host },
		{ "cmdline", mkcap_add_cmdline },
	};
	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		if (strcmp(kind[i].name, l->word[0]))
			continue;
		if (!cap.n_events && kind[i].add != mkcap_add_event &&
		    kind[i].add != add_task_session &&
		    kind[i].add != mkcap_add_host)
			die(l, "needs an event before", l->word[0]);
		kind[i].add(l);
		return;
	}
	die(l, "no such record:", l->word[0]);
}

/* Feature bits 3 to 12, as far as these tests need them. */
#define FEATURES                                                               \
	(1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 |                     \
	 (cap.cmdline.n ? 1u << 11 : 0) | 1u << 12)

static void mkcap_put_feature(struct pb *b, int bit)
{
	struct utsname here;

	switch (bit) {
	case 3:
		/* files at recorded paths prove too little elsewhere */
		if (!*cap.host && !uname(&here))
			snprintf(cap.host, sizeof(cap.host), "%s",
				 here.nodename);
		pb_text(b, cap.host, 64);
		break;
	case 4:
		pb_text(b, cap.release, 64);
		break;
	case 6:
		pb_text(b, cap.big ? "s390x" : "x86_64", 64);
		break;
	case 7:
		pb_u32(b, CPUS);
		pb_u32(b, CPUS);
		break;
	case 11:
		pb_u32(b, (uint32_t)cap.cmdline.n - 1);
		for (int i = 1; i < cap.cmdline.n; i++)
			pb_text(b, cap.cmdline.word[i], 64);
		break;
	case 12:
		pb_u32(b, (uint32_t)cap.n_events);
		pb_u32(b, ATTR_SIZE);
		for (size_t i = 0; i < cap.n_events; i++) {
			pb_attr(b, &cap.event[i]);
			pb_u32(b, CPUS);
			pb_text(b, cap.name[i], 64);
			pb_u64s(b, cap.event[i].ids, CPUS);
		}
		break;
	default: /* version of the tool */
		pb_text(b, "7.2.0", 64);
	}
}

/* Writes the records that perf record writes before the first event of the
 * kernel: the ids of the events, and the recorded threads and CPUs. */
static void mkcap_put_session(struct pb *b)
{
	uint64_t tid = cap.per_task ? cap.task : (uint64_t)-1;
	pb_rec(b, PR_ID_INDEX, 0);
	pb_u64(b, cap.n_events * CPUS);
	for (size_t i = 0; i < cap.n_events; i++) {
		for (uint64_t cpu = 0; cpu < CPUS; cpu++) {
			pb_u64(b, mkcap_id_of(i, cpu));
			pb_u64(b, cpu);
			pb_u64(b, cpu);
			pb_u64(b, tid);
		}
	}
	pb_end(b);
	pb_rec(b, PR_THREAD_MAP, 0);
	pb_u64(b, 1);
	pb_u64(b, tid);
	pb_zeros(b, 16);
	pb_end(b);
	pb_rec(b, PR_CPU_MAP, 0);
	pb_u16(b, 0);
	pb_u16(b, CPUS);
	for (uint16_t cpu = 0; cpu < CPUS; cpu++)
		pb_u16(b, cpu);
	pb_zeros(b, 4);
	pb_end(b);
}

static void finish_file(struct pb *out)
{
	pb_begin(out, cap.big, cap.event, cap.n_events);
	mkcap_put_session(out);
	pb_raw(out, cap.data.d, cap.data.n);
	size_t entry = pb_sections(out, FEATURES);
	for (int bit = 0; bit < 32; bit++) {
		size_t start = out->n;
		if (!(FEATURES >> bit & 1))
			continue;
		mkcap_put_feature(out, bit);
		pb_section_end(out, entry, start);
		entry += 16;
	}
}

static void finish_pipe(struct pb *out)
{
	pb_begin_pipe(out, cap.big);
	for (size_t i = 0; i < cap.n_events; i++) {
		pb_header_attr(out, &cap.event[i]);
		pb_rec(out, PR_EVENT_UPDATE, 0);
		pb_u64(out, 2); /* the event's name */
		pb_u64(out, mkcap_id_of(i, 0));
		pb_str(out, cap.name[i]);
		pb_end(out);
	}
	for (int bit = 0; bit < 12; bit++) {
		if (!(FEATURES >> bit & 1))
			continue;
		pb_rec(out, PR_FEATURE, 0);
		pb_u64(out, (uint64_t)bit);
		mkcap_put_feature(out, bit);
		pb_end(out);
	}
	mkcap_put_session(out);
	pb_raw(out, cap.data.d, cap.data.n);
}

int main(int argc, char **argv)
{
	struct pb out;
	int i = 1;
	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (!strcmp(argv[i], "-b"))
			cap.data.big = cap.big = true;
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
	free(out.d);
	free(cap.data.d);
	return 0;
}
