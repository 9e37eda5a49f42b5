/* mkftrace.c - turns a readable capture.txt into a capture of ftrace, for
 * tests: deferred user stacks by cookie, in the form of patches that are in no
 * released kernel (backstitch-formats(5), "Deferred stacks: ftrace"), and by
 * nonce.
 *
 * usage: mkftrace [-b] [-6] [-t] IN OUT
 *        -b: big-endian   -6: version 6   -t: the text of ftrace
 *
 * One record per line, in the order of times (us), words of key=value, as in
 * mkcap.c. Every line has pid= (of the thread), cpu= and time=.
 *
 *   layout 6
 *       stacks name files: version 6 of the patch, not 5
 *   event [k=A,..] [u=A,..] [cookie=C]
 *   chain cookie=C u=A,.. [ino=I,..] [dev=MAJ:MIN]
 *       ino -1: an address
 *   inode ino=I dev=MAJ:MIN path=
 *   mark text=
 *       written to trace_marker
 *   fork child= [thread]
 *   exec path=
 *   exit
 *   lost [n=N]
 *       in front of the CPU's next record
 *   map pid= start= end= path=
 *       a line of /proc/PID/maps; not in the text */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mktext.h"

#define CPUS 4
#define PAGE 4096
#define PAGE_HEAD 16
#define LOST_FLAG ((uint64_t)1 << 31)
#define STORED_FLAG ((uint64_t)1 << 30)

enum id {
	ID_KSTACK = 4,
	ID_PRINT = 5,
	ID_USTACK = 12,
	ID_COOKIE = 14,
	ID_CHAIN,
	ID_PLAIN = 100,
	ID_INODE,
	ID_NEWTASK,
	ID_EXEC,
	ID_EXIT,
};

#define COMMON                                                                 \
	"format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\t"   \
	"signed:0;\n\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\t" \
	"signed:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define STACK_5                                                                \
	"name: user_unwind_stack\nID: 15\n" COMMON                             \
	"\tfield:u64 cookie;\toffset:8;\tsize:8;\tsigned:0;\n"                 \
	"\tfield:__data_loc unsigned long[] stack;\toffset:16;\tsize:4;\t"     \
	"signed:0;\n"

static const char *const ftrace_formats[] = {
	"name: kernel_stack\nID: 4\n" COMMON
	"\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n",
	"name: print\nID: 5\n" COMMON
	"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n\n"
	"print fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n",
	"name: user_stack\nID: 12\n" COMMON
	"\tfield:unsigned int tgid;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n",
	"name: user_unwind_cookie\nID: 14\n" COMMON
	"\tfield:u64 cookie;\toffset:8;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"cookie=%llx\", REC->cookie\n",
	STACK_5,
	NULL
};

static const char stack_6[] = STACK_5
	"\tfield:__data_loc unsigned long[] inodes;\toffset:20;\tsize:4;\t"
	"signed:0;\n"
	"\tfield:__data_loc unsigned int[] dev;\toffset:24;\tsize:4;\t"
	"signed:0;\n";

static const char *const other_formats[] = {
	"mine",
	"name: plain\nID: 100\n" COMMON
	"\tfield:u64 n;\toffset:8;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"n=%llu\", REC->n\n",
	"inode_cache",
	"name: inode_cache\nID: 101\n" COMMON
	"\tfield:unsigned long inode;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int dev;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] path;\toffset:20;\tsize:4;\tsigned:0;\n",
	"task",
	"name: task_newtask\nID: 102\n" COMMON
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:1;\n"
	"\tfield:unsigned long clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n",
	"sched",
	"name: sched_process_exec\nID: 103\n" COMMON
	"\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n",
	"sched",
	"name: sched_process_exit\nID: 104\n" COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n",
	NULL
};

/* A ring; page is the offset of the current page. */
struct ring {
	struct buf b;
	size_t page;
	bool open, lost;
	uint64_t time, n_lost;
};

static struct {
	bool text, v6, files;
	struct ring ring[CPUS];
	struct buf out, maps;
	uint64_t time;
	int n_maps;
} cap;

static void mkftrace_patch(struct buf *b, size_t at, uint64_t v, size_t width)
{
	struct buf one = { 0 };

	mktext_put_number(&one, v, width);
	memcpy(b->data + at, one.data, width);
	free(one.data);
}

/* ---- pages */

static void end_page(struct ring *r)
{
	uint64_t len = r->b.len - r->page - PAGE_HEAD;

	if (!r->open)
		return;
	r->open = false;
	if (r->lost)
		len |= LOST_FLAG | (r->n_lost ? STORED_FLAG : 0);
	mkftrace_patch(&r->b, r->page + 8, len, 8);
	if (r->lost && r->n_lost)
		mktext_put64(&r->b, r->n_lost);
	r->lost = false;
	while (r->b.len < r->page + PAGE)
		mktext_put(&r->b, "", 1);
}

static void put_word(struct buf *b, uint32_t type, uint32_t delta)
{
	mktext_put32(b, big ? type << 27 | delta : delta << 5 | type);
}

/* Makes room for an entry of len bytes, its time and a count of lost events. */
static void mkftrace_open_page(struct ring *r, size_t len, uint64_t time)
{
	if (r->open && r->b.len - r->page + len + 24 > PAGE)
		end_page(r);
	if (r->open)
		return;
	r->open = true;
	r->page = r->b.len;
	r->time = time;
	mktext_put64(&r->b, time);
	mktext_put64(&r->b, 0);
}

static struct ring *mkftrace_ring_of(const struct line *l)
{
	return &cap.ring[mktext_number(l, "cpu", 0) % CPUS];
}

static uint64_t mkftrace_time_of(const struct line *l)
{
	return mktext_number(l, "time", 0) * 1000;
}

/* body holds the fields after the common ones. */
static void mkftrace_put_entry(const struct line *l, enum id id,
			       const struct buf *body)
{
	struct ring *r = mkftrace_ring_of(l);
	uint64_t time = mkftrace_time_of(l);
	size_t len = (body->len + 3) / 4 * 4 + 8;

	mkftrace_open_page(r, len, time);
	if ((time - r->time) >> 27) {
		put_word(&r->b, 30, (time - r->time) & ((1u << 27) - 1));
		mktext_put32(&r->b, (time - r->time) >> 27);
		r->time = time;
	}
	put_word(&r->b, 0, (uint32_t)(time - r->time));
	mktext_put32(&r->b, len + 4);
	r->time = time;
	put16(&r->b, id);
	put16(&r->b, 0);
	mktext_put32(&r->b, mktext_number(l, "pid", 0));
	mktext_put(&r->b, body->data, body->len);
	mktext_pad(&r->b, 4);
}

/* ---- entries */

static void mkftrace_put_comm(struct buf *b)
{
	char comm[16] = "app";

	mktext_put(b, comm, sizeof(comm));
}

/* Writes the word that says where in the entry an array of len bytes is. */
static void put_place(struct buf *b, size_t at, size_t len)
{
	mktext_put32(b, len << 16 | at);
}

static void binary_stack(const struct line *l, enum id id, const char *key)
{
	uint64_t a[MAX_ADDRS];
	size_t n = mktext_addresses(l, key, a);
	struct buf b = { 0 };

	if (!n)
		return;
	mktext_put32(&b, id == ID_KSTACK ? n : mktext_number(l, "pid", 0));
	mktext_put32(&b, 0);
	for (size_t i = 0; i < n; i++)
		mktext_put64(&b, a[i]);
	for (size_t i = n; id == ID_USTACK && i < 8; i++)
		mktext_put64(&b, 0);
	mkftrace_put_entry(l, id, &b);
	free(b.data);
}

static uint32_t dev_of(const struct line *l, uint64_t *maj, uint64_t *min)
{
	const char *s = mktext_find(l, "dev");
	char *end;

	*maj = s ? mktext_parse(l, s, &end) : 0;
	*min = s ? mktext_parse(l, end + 1, &end) : 0;
	return (uint32_t)(*maj << 20 | *min);
}

static void binary_event(const struct line *l)
{
	struct buf b = { 0 };

	mktext_put64(&b, (uint64_t)l->number);
	mkftrace_put_entry(l, ID_PLAIN, &b);
	b.len = 0;
	binary_stack(l, ID_KSTACK, "k");
	binary_stack(l, ID_USTACK, "u");
	if (mktext_find(l, "cookie")) {
		mktext_put64(&b, mktext_number(l, "cookie", 0));
		mkftrace_put_entry(l, ID_COOKIE, &b);
	}
	free(b.data);
}

static void binary_chain(const struct line *l)
{
	uint64_t a[MAX_ADDRS], ino[MAX_ADDRS] = { 0 };
	uint64_t maj, min;
	uint32_t dev = dev_of(l, &maj, &min);
	size_t n = mktext_addresses(l, "u", a);
	struct buf b = { 0 };
	size_t at = cap.files ? 28 : 20;

	mktext_addresses(l, "ino", ino);
	mktext_put64(&b, mktext_number(l, "cookie", 0));
	put_place(&b, at, n * 8);
	if (cap.files) {
		put_place(&b, at + n * 8, n * 8);
		put_place(&b, at + n * 16, n * 4);
	}
	for (size_t i = 0; i < n; i++)
		mktext_put64(&b, a[i]);
	for (size_t i = 0; cap.files && i < n; i++)
		mktext_put64(&b, ino[i]);
	for (size_t i = 0; cap.files && i < n; i++)
		mktext_put32(&b, ino[i] && ino[i] != UINT64_MAX ? dev : 0);
	mkftrace_put_entry(l, ID_CHAIN, &b);
	free(b.data);
}

static void binary_other(const struct line *l)
{
	const char *kind = l->word[0];
	struct buf b = { 0 };
	uint64_t maj, min;
	enum id id = ID_EXIT;

	if (!strcmp(kind, "inode")) {
		const char *path = mktext_need(l, "path");

		id = ID_INODE;
		mktext_put64(&b, mktext_number(l, "ino", 0));
		mktext_put32(&b, dev_of(l, &maj, &min));
		put_place(&b, 24, strlen(path) + 1);
		mktext_put(&b, path, strlen(path) + 1);
	} else if (!strcmp(kind, "mark")) {
		const char *text = mktext_need(l, "text");

		id = ID_PRINT;
		mktext_put64(&b, 0xffffffff81000000);
		mktext_put(&b, text, strlen(text));
		mktext_put(&b, "\n", 2);
	} else if (!strcmp(kind, "fork")) {
		id = ID_NEWTASK;
		mktext_put32(&b, mktext_number(l, "child", 0));
		mkftrace_put_comm(&b);
		mktext_put32(&b, 0);
		mktext_put64(&b, mktext_find(l, "thread") ? 0x10000 : 0);
	} else if (!strcmp(kind, "exec")) {
		const char *path = mktext_need(l, "path");

		id = ID_EXEC;
		put_place(&b, 16, strlen(path) + 1);
		mktext_put32(&b, mktext_number(l, "pid", 0));
		mktext_put(&b, path, strlen(path) + 1);
	} else {
		mkftrace_put_comm(&b);
		mktext_put32(&b, mktext_number(l, "pid", 0));
	}
	mkftrace_put_entry(l, id, &b);
	free(b.data);
}

static void binary_lost(const struct line *l)
{
	struct ring *r = mkftrace_ring_of(l);

	end_page(r);
	r->lost = true;
	r->n_lost = mktext_number(l, "n", 0);
}

static void mkftrace_add_map(const struct line *l)
{
	char text[512];
	int n = snprintf(text, sizeof(text),
			 "%" PRIx64 " 1 app\n%" PRIx64 " %" PRIx64 " %s\n",
			 mktext_number(l, "pid", 0),
			 mktext_number(l, "start", 0),
			 mktext_number(l, "end", 0), mktext_need(l, "path"));

	mktext_put(&cap.maps, text, (size_t)n);
	cap.n_maps++;
}

static void mkftrace_binary(const struct line *l)
{
	const char *kind = l->word[0];

	if (!strcmp(kind, "event"))
		binary_event(l);
	else if (!strcmp(kind, "chain"))
		binary_chain(l);
	else if (!strcmp(kind, "lost"))
		binary_lost(l);
	else if (!strcmp(kind, "map"))
		mkftrace_add_map(l);
	else
		binary_other(l);
}

/* ---- text */

static void mkftrace_say(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
static void mkftrace_say(const char *fmt, ...)
{
	char text[8192];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text), fmt, ap);

	va_end(ap);
	mktext_put(&cap.out, text, (size_t)n);
}

static void mkftrace_text_head(const struct line *l)
{
	uint64_t t = mktext_number(l, "time", 0);

	mkftrace_say("%16s-%-7" PRIu64 " [%03" PRIu64 "] ..... %5" PRIu64
		     ".%06" PRIu64 ": ",
		     "app", mktext_number(l, "pid", 0),
		     mktext_number(l, "cpu", 0), t / 1000000, t % 1000000);
}

static void text_stack(const struct line *l, const char *key, const char *name)
{
	uint64_t a[MAX_ADDRS];
	size_t n = mktext_addresses(l, key, a);

	if (!n)
		return;
	mkftrace_text_head(l);
	mkftrace_say("%s\n", name);
	for (size_t i = 0; i < n; i++)
		mkftrace_say(key[0] == 'k' ? " => %016" PRIx64 "\n"
					   : " =>  <%016" PRIx64 ">\n",
			     a[i]);
}

static void text_chain(const struct line *l)
{
	uint64_t a[MAX_ADDRS], ino[MAX_ADDRS] = { 0 };
	size_t n = mktext_addresses(l, "u", a);
	uint64_t maj, min;

	dev_of(l, &maj, &min);
	mktext_addresses(l, "ino", ino);
	mkftrace_text_head(l);
	mkftrace_say("<user stack unwind>\ncookie=%" PRIx64 "\n",
		     mktext_number(l, "cookie", 0));
	for (size_t i = 0; i < n; i++) {
		bool file = ino[i] && ino[i] != UINT64_MAX;

		mkftrace_say(" =>  <%016" PRIx64 ">", a[i]);
		if (cap.files)
			mkftrace_say(" : %" PRIu64 " : %" PRIu64 ":%" PRIu64,
				     ino[i], file ? maj : 0, file ? min : 0);
		mkftrace_say("\n");
	}
}

static void text_other(const struct line *l)
{
	const char *kind = l->word[0];
	uint64_t maj, min;
	uint64_t pid = mktext_number(l, "pid", 0);

	mkftrace_text_head(l);
	if (!strcmp(kind, "inode")) {
		dev_of(l, &maj, &min);
		mkftrace_say("inode_cache: inode=%" PRIu64 " dev=[%" PRIu64
			     ":%" PRIu64 "] path=%s\n",
			     mktext_number(l, "ino", 0), maj, min,
			     mktext_need(l, "path"));
	} else if (!strcmp(kind, "mark")) {
		mkftrace_say("tracing_mark_write: %s\n",
			     mktext_need(l, "text"));
	} else if (!strcmp(kind, "fork")) {
		mkftrace_say("task_newtask: pid=%" PRIu64
			     " comm=app clone_flags=%x "
			     "oom_score_adj=0\n",
			     mktext_number(l, "child", 0),
			     mktext_find(l, "thread") ? 0x10000 : 0);
	} else if (!strcmp(kind, "exec")) {
		mkftrace_say("sched_process_exec: filename=%s pid=%" PRIu64
			     " old_pid=%" PRIu64 "\n",
			     mktext_need(l, "path"), pid, pid);
	} else {
		mkftrace_say("sched_process_exit: comm=app pid=%" PRIu64
			     " prio=120\n",
			     pid);
	}
}

static void mkftrace_text(const struct line *l)
{
	const char *kind = l->word[0];

	if (!strcmp(kind, "map"))
		return;
	if (!strcmp(kind, "lost")) {
		uint64_t n = mktext_number(l, "n", 0);

		mkftrace_say("CPU:%" PRIu64 " [LOST ",
			     mktext_number(l, "cpu", 0));
		if (n)
			mkftrace_say("%" PRIu64 " ", n);
		mkftrace_say("EVENTS]\n");
	} else if (!strcmp(kind, "chain")) {
		text_chain(l);
	} else if (!strcmp(kind, "event")) {
		mkftrace_text_head(l);
		mkftrace_say("plain: n=%d\n", l->number);
		text_stack(l, "k", "<stack trace>");
		text_stack(l, "u", "<user stack trace>");
		if (mktext_find(l, "cookie")) {
			mkftrace_text_head(l);
			mkftrace_say("user_unwind_cookie: cookie=%" PRIx64 "\n",
				     mktext_number(l, "cookie", 0));
		}
	} else {
		text_other(l);
	}
}

/* ---- files */

static void mkftrace_put_text(struct buf *b, const char *s)
{
	mktext_put64(b, strlen(s));
	mktext_put(b, s, strlen(s));
}

static void mkftrace_put_formats(struct buf *b)
{
	size_t at = b->len;
	uint32_t n = 0;

	mktext_put32(b, 0);
	for (; ftrace_formats[n]; n++)
		mkftrace_put_text(b, cap.files && n == 4 ? stack_6
							 : ftrace_formats[n]);
	mkftrace_patch(b, at, n, 4);
}

static void put_systems(struct buf *b)
{
	size_t at = b->len;
	uint32_t n = 0;

	mktext_put32(b, 0);
	for (; other_formats[2 * n]; n++) {
		mktext_put(b, other_formats[2 * n],
			   strlen(other_formats[2 * n]) + 1);
		mktext_put32(b, 1);
		mkftrace_put_text(b, other_formats[2 * n + 1]);
	}
	mkftrace_patch(b, at, n, 4);
}

/* Ids of the sections of version 7, in the order of version 6's parts. */
static const int parts[] = { 16, 17, 18, 19, 20, 21 };

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static void put_part(struct buf *b, int id)
{
	static const char page[] =
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

	switch (id) {
	case 16:
		mktext_put(b, "header_page", 12);
		mkftrace_put_text(b, page);
		mktext_put(b, "header_event", 13);
		mkftrace_put_text(b, "");
		break;
	case 17:
		mkftrace_put_formats(b);
		break;
	case 18:
		put_systems(b);
		break;
	case 21:
		mktext_put64(b, 0);
		break;
	default:
		mktext_put32(b, 0);
	}
}

static void mkftrace_put_head(struct buf *b, const char *version)
{
	mktext_put(b, "\x17\x08\x44tracing", 10);
	mktext_put(b, version, 2);
	mktext_put_number(b, big, 1);
	mktext_put_number(b, 8, 1);
	mktext_put32(b, PAGE);
}

static void put_option(struct buf *b, uint64_t id, const struct buf *data)
{
	put16(b, id);
	mktext_put32(b, data->len);
	mktext_put(b, data->data, data->len);
}

static void page_align(struct buf *b)
{
	while (b->len % PAGE)
		mktext_put(b, "", 1);
}

static void mkftrace_file6(struct buf *out)
{
	mkftrace_put_head(out, "6");
	for (size_t i = 0; i < PARTS; i++)
		put_part(out, parts[i]);
	mktext_put32(out, CPUS);
	mktext_put(out, "options  ", 10);
	if (cap.n_maps)
		put_option(out, 10, &cap.maps);
	put16(out, 0);
	mktext_put(out, "flyrecord", 10);
	size_t table = out->len;

	for (int i = 0; i < 2 * CPUS; i++)
		mktext_put64(out, 0);
	for (size_t i = 0; i < CPUS; i++) {
		page_align(out);
		mkftrace_patch(out, table + 16 * i, out->len, 8);
		mkftrace_patch(out, table + 16 * i + 8, cap.ring[i].b.len, 8);
		mktext_put(out, cap.ring[i].b.data, cap.ring[i].b.len);
	}
}

static size_t section(struct buf *b, int id)
{
	size_t at = b->len;

	put16(b, (uint64_t)id);
	put16(b, 0);
	mktext_put32(b, 0);
	mktext_put64(b, 0);
	return at;
}

static void section_end(struct buf *b, size_t at)
{
	mkftrace_patch(b, at + 8, b->len - at - 16, 8);
}

/* Writes the last option. Returns the offset at which the caller stores the
 * offset of the next section. */
static size_t last_option(struct buf *b)
{
	put16(b, 0);
	mktext_put32(b, 8);
	mktext_put64(b, 0);
	return b->len - 8;
}

static void put_rings(struct buf *out, struct buf *opt)
{
	size_t at = section(out, 3);

	mktext_put64(opt, at);
	mktext_put(opt, "", 1);
	mktext_put(opt, "mono", 5);
	mktext_put32(opt, PAGE);
	mktext_put32(opt, CPUS);
	for (uint32_t i = 0; i < CPUS; i++) {
		page_align(out);
		mktext_put32(opt, i);
		mktext_put64(opt, out->len);
		mktext_put64(opt, cap.ring[i].b.len);
		mktext_put(out, cap.ring[i].b.data, cap.ring[i].b.len);
	}
	section_end(out, at);
}

static void mkftrace_file7(struct buf *out)
{
	size_t where[PARTS];
	struct buf opt = { 0 };

	mkftrace_put_head(out, "7");
	mktext_put(out, "none\0", 6);
	size_t first = out->len;

	mktext_put64(out, 0);
	for (size_t i = 0; i < PARTS; i++) {
		where[i] = section(out, parts[i]);
		put_part(out, parts[i]);
		section_end(out, where[i]);
	}
	mkftrace_patch(out, first, out->len, 8);
	size_t at = section(out, 0);

	for (size_t i = 0; i < PARTS; i++) {
		opt.len = 0;
		mktext_put64(&opt, where[i]);
		put_option(out, (uint64_t)parts[i], &opt);
	}
	if (cap.n_maps)
		put_option(out, 10, &cap.maps);
	size_t link = last_option(out);

	section_end(out, at);
	opt.len = 0;
	put_rings(out, &opt);
	mkftrace_patch(out, link, out->len, 8);
	at = section(out, 0);
	put_option(out, 3, &opt);
	last_option(out);
	section_end(out, at);
	free(opt.data);
}

static void mkftrace_add(const struct line *l)
{
	static const char *const kinds[] = { "event", "chain", "inode", "mark",
					     "fork",  "exec",  "exit",	"lost",
					     "map",   NULL };
	size_t i = 0;

	if (!strcmp(l->word[0], "layout")) {
		cap.files = l->n > 1 && !strcmp(l->word[1], "6");
		return;
	}
	while (kinds[i] && strcmp(kinds[i], l->word[0]))
		i++;
	if (!kinds[i])
		die(l, "no such record:", l->word[0]);
	if (mktext_find(l, "time") && mkftrace_time_of(l) < cap.time)
		die(l, "a time before the last one:", mktext_need(l, "time"));
	if (mktext_find(l, "time"))
		cap.time = mkftrace_time_of(l);
	if (cap.text)
		mkftrace_text(l);
	else
		mkftrace_binary(l);
}

int main(int argc, char **argv)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		big |= !strcmp(argv[i], "-b");
		cap.v6 |= !strcmp(argv[i], "-6");
		cap.text |= !strcmp(argv[i], "-t");
	}
	if (argc - i != 2) {
		fputs("usage: mkftrace [-b] [-6] [-t] IN OUT\n", stderr);
		return 2;
	}
	if (cap.text)
		mkftrace_say("# tracer: nop\n#\n");
	read_lines(argv[i], mkftrace_add);
	for (size_t k = 0; k < CPUS; k++)
		end_page(&cap.ring[k]);
	if (!cap.text && cap.v6)
		mkftrace_file6(&cap.out);
	else if (!cap.text)
		mkftrace_file7(&cap.out);
	write_file(argv[i + 1], &cap.out);
	for (size_t k = 0; k < CPUS; k++)
		free(cap.ring[k].b.data);
	free(cap.out.data);
	free(cap.maps.data);
	return 0;
}
