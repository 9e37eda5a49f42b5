/* mkctf.c - a large CTF trace as LTTng-UST writes it: requests, their stacks,
 * events with fields of all kinds, and switches.
 * usage: mkctf DIR EVENTS */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CPUS 2
#define PACKET (256u << 10)
#define HEAD 84 /* of a packet, with its context */

static const char metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 5; align = 1; signed = false; } := u5;\n"
	"typealias integer { size = 27; align = 1; signed = false; } := u27;\n"
	"typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := s32;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
	"typealias integer { size = 64; align = 8; signed = false;"
	" base = hex; } := x64;\n"
	"trace { major = 1; minor = 8; byte_order = le;\n"
	" uuid = \"01020304-0506-0708-090a-0b0c0d0e0f10\";\n"
	" packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id;"
	" u64 stream_instance_id; }; };\n"
	"env { domain = \"ust\"; tracer_name = \"lttng-ust\"; };\n"
	"clock { name = \"monotonic\"; freq = 1000000000; offset = 5; };\n"
	"typealias integer { size = 27; align = 1; signed = false;"
	" map = clock.monotonic.value; } := t27;\n"
	"typealias integer { size = 64; align = 8; signed = false;"
	" map = clock.monotonic.value; } := t64;\n"
	"stream { id = 0;\n"
	" packet.context := struct { t64 timestamp_begin; t64 timestamp_end;"
	" u64 content_size; u64 packet_size; u64 packet_seq_num;"
	" u64 events_discarded; u32 cpu_id; };\n"
	" event.header := struct {"
	"  enum : u5 { compact = 0 ... 30, extended = 31 } id;\n"
	"  variant <id> { struct { t27 timestamp; } compact;"
	"  struct { u32 id; t64 timestamp; } extended; } v; } align(8);\n"
	" event.context := struct { s32 _vpid; s32 _vtid;"
	"  integer { size = 8; align = 8; signed = false; encoding = UTF8; }"
	"  _procname[17]; x64 _ip; }; };\n"
	"event { id = 0; name = \"stitch:request\"; stream_id = 0;\n"
	" fields := struct { x64 _cookie; u32 _kind; string _what; }; };\n"
	"event { id = 1; name = \"stitch:ustack\"; stream_id = 0;\n"
	" fields := struct { x64 _cookie; u32 __ips_length;"
	"  x64 _ips[__ips_length]; }; };\n"
	"event { id = 2; name = \"app:misc\"; stream_id = 0;\n"
	" fields := struct { s32 _neg; floating_point { exp_dig = 11;"
	"  mant_dig = 53; align = 8; } _dbl; enum : u32 { \"IDLE\" = 0,"
	"  \"BUSY\" = 1, \"LATE\" = 2 ... 9 } _phase; s32 _arr[4];"
	"  string _str; }; };\n"
	"event { id = 3; name = \"sched_switch\"; stream_id = 0;\n"
	" fields := struct { integer { size = 8; align = 8; signed = false;"
	"  encoding = UTF8; } _prev_comm[16]; s32 _prev_tid; s32 _prev_prio;"
	"  u64 _prev_state; integer { size = 8; align = 8; signed = false;"
	"  encoding = UTF8; } _next_comm[16]; s32 _next_tid;"
	"  s32 _next_prio; }; };\n";

struct stream {
	FILE *f;
	unsigned char buf[PACKET];
	size_t len;
	uint64_t begin, last, seq, cookie;
	uint32_t cpu;
};

static struct stream streams[CPUS];

static void bench_mkctf_put(struct stream *s, const void *p, size_t n)
{
	memcpy(s->buf + s->len, p, n);
	s->len += n;
}

static void bench_mkctf_put32(struct stream *s, uint32_t v)
{
	bench_mkctf_put(s, &v, 4);
}

static void bench_mkctf_put64(struct stream *s, uint64_t v)
{
	bench_mkctf_put(s, &v, 8);
}

static int bench_mkctf_flush(struct stream *s)
{
	const uint32_t magic = 0xC1FC1FC1;
	size_t len = s->len;
	int rc;

	if (len <= HEAD)
		return 0;
	s->len = 0;
	bench_mkctf_put(s, &magic, 4);
	for (int i = 1; i <= 16; i++)
		s->buf[s->len++] = (unsigned char)i;
	bench_mkctf_put32(s, 0);
	bench_mkctf_put64(s, s->cpu);
	bench_mkctf_put64(s, s->begin);
	bench_mkctf_put64(s, s->last);
	bench_mkctf_put64(s, len * 8);
	bench_mkctf_put64(s, PACKET * 8);
	bench_mkctf_put64(s, s->seq++);
	bench_mkctf_put64(s, 0);
	bench_mkctf_put32(s, s->cpu);
	memset(s->buf + len, 0, PACKET - len);
	rc = fwrite(s->buf, PACKET, 1, s->f) == 1 ? 0 : -1;
	s->len = HEAD;
	return rc;
}

static void bench_mkctf_put_head(struct stream *s, uint32_t id, uint64_t t)
{
	static const char name[17] = "worker";
	uint32_t pid = 100;

	if (s->len <= HEAD)
		s->begin = t;
	s->last = t;
	bench_mkctf_put32(s, id | (uint32_t)(t & 0x7ffffff) << 5);
	bench_mkctf_put32(s, pid);
	bench_mkctf_put32(s, pid + s->cpu);
	bench_mkctf_put(s, name, sizeof(name));
	bench_mkctf_put64(s, 0x555500001000 + id * 16);
}

static void bench_mkctf_put_stack(struct stream *s, uint64_t i)
{
	uint32_t n = 5 + (uint32_t)(i % 12);

	bench_mkctf_put64(s, s->cookie);
	bench_mkctf_put32(s, n);
	for (uint32_t k = 0; k < n; k++)
		bench_mkctf_put64(s, 0x555500002000 + k * 64 + i % 7 * 4);
}

static void put_misc(struct stream *s, uint64_t i)
{
	double d = (double)i / 7;

	bench_mkctf_put32(s, (uint32_t) - (int32_t)(i % 1000));
	bench_mkctf_put(s, &d, 8);
	bench_mkctf_put32(s, (uint32_t)(i % 10));
	for (uint32_t k = 0; k < 4; k++)
		bench_mkctf_put32(s, k + (uint32_t)i);
	bench_mkctf_put(s, "hello", 6);
}

static void bench_mkctf_put_switch(struct stream *s, uint64_t i)
{
	static const char name[2][16] = { "worker", "swapper" };
	uint32_t tid = 100 + s->cpu;

	for (uint64_t k = 0; k < 2; k++) {
		bench_mkctf_put(s, name[(i + k) % 2], 16);
		bench_mkctf_put32(s, (i + k) % 2 ? 0 : tid);
		bench_mkctf_put32(s, 20);
		if (!k)
			bench_mkctf_put64(s, i % 2);
	}
}

static void bench_mkctf_put_event(struct stream *s, uint64_t i, uint64_t t)
{
	uint32_t kind = (uint32_t)(i / CPUS % 20);

	if (kind < 8) {
		bench_mkctf_put_head(s, 0, t);
		bench_mkctf_put64(s, ++s->cookie);
		bench_mkctf_put32(s, (uint32_t)(i % 3));
		bench_mkctf_put(s, "read", 5);
	} else if (kind < 16) {
		s->cookie -= kind == 8 ? 7 : 0;
		bench_mkctf_put_head(s, 1, t);
		bench_mkctf_put_stack(s, i);
		s->cookie += kind < 15;
	} else if (kind < 18) {
		bench_mkctf_put_head(s, 2, t);
		put_misc(s, i);
	} else {
		bench_mkctf_put_head(s, 3, t);
		bench_mkctf_put_switch(s, i);
	}
}

static FILE *bench_mkctf_create(const char *dir, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return fopen(path, "wb");
}

static int bench_mkctf_write_all(const char *dir, uint64_t n)
{
	FILE *f = bench_mkctf_create(dir, "metadata");

	if (!f || fputs(metadata, f) < 0 || fclose(f))
		return -1;
	for (uint32_t c = 0; c < CPUS; c++) {
		char name[16];

		snprintf(name, sizeof(name), "ch_%u", c);
		streams[c].f = bench_mkctf_create(dir, name);
		streams[c].len = HEAD;
		streams[c].cpu = c;
		streams[c].cookie = (uint64_t)(c + 1) << 40;
		if (!streams[c].f)
			return -1;
	}
	for (uint64_t i = 0; i < n; i++) {
		struct stream *s = &streams[i % CPUS];

		bench_mkctf_put_event(s, i, 1000000000 + i * 350);
		if (s->len + 512 > PACKET && bench_mkctf_flush(s))
			return -1;
	}
	for (uint32_t c = 0; c < CPUS; c++)
		if (bench_mkctf_flush(&streams[c]) || fclose(streams[c].f))
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: mkctf DIR EVENTS\n");
		return 2;
	}
	if ((mkdir(argv[1], 0777) && errno != EEXIST) ||
	    bench_mkctf_write_all(argv[1], strtoull(argv[2], NULL, 10))) {
		perror(argv[1]);
		return 1;
	}
	return 0;
}
