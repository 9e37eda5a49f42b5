/* ctf.c - tests of what formats/ctf_*.c does without the library: metadata,
 * packet chains, the pool, the rules of requests and chains. */
#include "formats/ctf/ctf.h"

#include <string.h>

#include "stitch/base/err.h"
#include "tests/unit/run.h"

#define HEAD                                                                   \
	"/* CTF 1.8 */\n"                                                      \
	"typealias integer { size = 8; align = 8; signed = false; } := "       \
	"uint8_t;\n"                                                           \
	"typealias integer { size = 32; align = 8; signed = false; } := "      \
	"uint32_t;\n"                                                          \
	"typealias integer { size = 64; align = 8; signed = false; } := "      \
	"unsigned long;\n"
#define TRACE                                                                  \
	"trace { major = 1; minor = 8; byte_order = le;\n"                     \
	" uuid = \"01020304-0506-0708-090a-0b0c0d0e0f10\";\n"                  \
	" packet.header := struct { uint32_t magic; uint8_t uuid[16];\n"       \
	"  uint32_t stream_id; }; };\n"
#define STREAM                                                                 \
	"struct pc { unsigned long timestamp_begin; unsigned long "            \
	"timestamp_end;\n unsigned long content_size; unsigned long "          \
	"packet_size; uint32_t cpu_id; };\n"                                   \
	"stream { id = 3; packet.context := struct pc; };\n"
#define PACKET 64
#define CONTEXT 24 /* where it begins */

static struct arena arena;
static struct ctf_meta meta;

static void ctf_read_text(const char *text)
{
	arena_release(&arena);
	ctf_meta_read(&arena, text, strlen(text), &meta);
}

/* A packet of the stream above, times b and e. */
static void put_packet(unsigned char *p, uint64_t b, uint64_t e)
{
	const uint32_t magic = 0xC1FC1FC1;
	const uint32_t id = 3;
	const uint64_t ctx[] = { b, e, 60 * 8, PACKET * 8 };

	memset(p, 0, PACKET);
	memcpy(p, &magic, 4);
	for (int i = 0; i < 16; i++)
		p[4 + i] = (unsigned char)(i + 1);
	memcpy(p + 20, &id, 4);
	memcpy(p + CONTEXT, ctx, sizeof(ctx));
}

START_TEST(places_of_a_packet_are_found)
{
	ctf_read_text(HEAD TRACE STREAM);
	ck_assert_int_eq(meta.version, 1);
	ck_assert(meta.has_uuid);
	ck_assert_uint_eq(meta.uuid[15], 0x10);
	ck_assert_uint_eq(meta.magic.size, 4);
	ck_assert_uint_eq(meta.id.off, 4);
	ck_assert_uint_eq(meta.id.size, 16);
	ck_assert_uint_eq(meta.n_layout, 1);
	ck_assert(meta.layout[0].known);
	ck_assert_uint_eq(meta.layout[0].id, 3);
	ck_assert_uint_eq(meta.layout[0].begin.off, CONTEXT);
	ck_assert_uint_eq(meta.layout[0].packet.off, CONTEXT + 24);
	ck_assert_uint_eq(meta.layout[0].cpu.off, CONTEXT + 32);
	ck_assert_uint_eq(meta.layout[0].len, CONTEXT + 36);
}
END_TEST

START_TEST(clock_and_environment_are_read)
{
	ctf_read_text(HEAD TRACE
		      "env { hostname = \"a \\\"b\\\" ; c\"; vpid = 17; };\n"
		      "clock { name = \"monotonic\"; freq = 1000; /* a */\n"
		      " offset_s = 5; // b\n offset = 0x10; };\n");
	ck_assert_str_eq(meta.clock, "monotonic");
	ck_assert_uint_eq(meta.freq, 1000);
	ck_assert_int_eq(meta.offset_s, 5);
	ck_assert_uint_eq(meta.offset, 16);
	ck_assert_int_eq(meta.vpid, 17);
	ck_assert_str_eq(meta.host, "a \\\"b\\\" ; c");
}
END_TEST

START_TEST(newer_metadata_is_told_apart)
{
	ctf_read_text("\x1e{\"type\": \"preamble\"}");
	ck_assert_int_eq(meta.version, 2);
	ctf_read_text("no metadata");
	ck_assert_int_eq(meta.version, 0);
}
END_TEST

START_TEST(layout_that_is_not_understood_judges_nothing)
{
	struct ctf_chain ch;

	ctf_read_text(HEAD TRACE
		      "stream { id = 3; packet.context := struct { odd x; "
		      "unsigned long packet_size; }; };");
	ck_assert(!meta.layout[0].known);
	unsigned char p[PACKET];

	put_packet(p, 1, 2);
	ctf_chain_read(&meta, p, sizeof(p), &ch);
	ck_assert(!ch.known);
	ctf_chain_release(&ch);
}
END_TEST

START_TEST(whole_chain_is_one_part)
{
	unsigned char p[3 * PACKET];
	struct ctf_chain ch;

	ctf_read_text(HEAD TRACE STREAM);
	for (unsigned int i = 0; i < 3; i++)
		put_packet(p + i * PACKET, 10 * i + 1, 10 * i + 2);
	ctf_chain_read(&meta, p, sizeof(p), &ch);
	ck_assert(ch.known);
	ck_assert_uint_eq(ch.packets, 3);
	ck_assert_uint_eq(ch.n, 1);
	ck_assert(ch.part[0].good);
	ck_assert_uint_eq(ch.begin, 1);
	ck_assert_uint_eq(ch.end, 22);
	ctf_chain_release(&ch);
}
END_TEST

START_TEST(cut_packet_is_a_bad_part_at_the_end)
{
	unsigned char p[2 * PACKET];
	struct ctf_chain ch;

	ctf_read_text(HEAD TRACE STREAM);
	put_packet(p, 1, 2);
	put_packet(p + PACKET, 3, 4);
	ctf_chain_read(&meta, p, sizeof(p) - 1, &ch);
	ck_assert_uint_eq(ch.packets, 1);
	ck_assert_uint_eq(ch.n, 2);
	ck_assert(!ch.part[1].good);
	ck_assert_uint_eq(ch.part[1].off, PACKET);
	ck_assert_uint_eq(ch.part[1].len, PACKET - 1);
	ctf_chain_release(&ch);
}
END_TEST

START_TEST(next_packet_behind_a_bad_one_is_found_at_a_page)
{
	static unsigned char p[2 * 4096 + PACKET];
	struct ctf_chain ch;

	ctf_read_text(HEAD TRACE STREAM);
	memset(p, 0x55, sizeof(p));
	put_packet(p, 1, 2);
	put_packet(p + 2 * 4096, 7, 8);
	/* not at a page: this one may be anything */
	put_packet(p + 4096 + 64, 5, 6);
	ctf_chain_read(&meta, p, sizeof(p), &ch);
	ck_assert_uint_eq(ch.packets, 2);
	ck_assert_uint_eq(ch.n, 3);
	ck_assert_uint_eq(ch.part[1].len, 2 * 4096 - PACKET);
	ck_assert_uint_eq(ch.part[2].begin, 7);
	ctf_chain_release(&ch);
}
END_TEST

START_TEST(other_traces_packet_is_bad)
{
	unsigned char p[2 * PACKET];
	struct ctf_chain ch;

	ctf_read_text(HEAD TRACE STREAM);
	for (size_t bad = 0; bad < 2; bad++) {
		put_packet(p, 1, 2);
		put_packet(p + PACKET, 3, 4);
		p[bad * PACKET + 10] ^= 1; /* in the uuid */
		ctf_chain_read(&meta, p, sizeof(p), &ch);
		ck_assert_uint_eq(ch.packets, bad ? 1 : 0);
		ck_assert(!ch.part[bad ? ch.n - 1 : 0].good);
		ctf_chain_release(&ch);
	}
}
END_TEST

START_TEST(all_packets_may_have_another_uuid_than_the_metadata)
{
	unsigned char p[2 * PACKET];
	struct ctf_chain ch;

	ctf_read_text(HEAD TRACE STREAM);
	put_packet(p, 1, 2);
	put_packet(p + PACKET, 3, 4);
	p[10] ^= 1;
	p[PACKET + 10] ^= 1;
	ctf_chain_read(&meta, p, sizeof(p), &ch);
	ck_assert_uint_eq(ch.packets, 2);
	ck_assert_uint_eq(ch.n, 1);
	ck_assert(ch.part[0].good);
	ctf_chain_release(&ch);
}
END_TEST

START_TEST(pool_keeps_what_is_not_released_and_reuses_the_rest)
{
	struct ctf_pool pool = { 0 };
	uint64_t keep, h[64];
	uint64_t state = 1;

	memcpy(ctf_pool_take(&pool, 8, &keep), "kept!!!", 8);
	for (int round = 0; round < 4000; round++) {
		for (int i = 0; i < 64; i++) {
			size_t len = 1 + rnd_below(&state, 700);

			memset(ctf_pool_take(&pool, len, &h[i]), i, len);
		}
		for (int i = 0; i < 64; i++) {
			must(*(char *)ctf_pool_at(&pool, h[i]) == i);
			ctf_pool_drop(&pool, h[i]);
		}
	}
	ck_assert_str_eq(ctf_pool_at(&pool, keep), "kept!!!");
	ck_assert_uint_le(pool.held, 1 << 20);
	ctf_pool_release(&pool);
}
END_TEST

START_TEST(rules_are_taken_apart)
{
	struct ctf ctf = {
		.opts = { .request = "a:b(c) d(e)", .chain = "f:g(h,i)" },
	};
	struct err err;

	ck_assert_int_eq(ctf_rules_read(&ctf, &err), 0);
	ck_assert_str_eq(ctf_rule_of(&ctf, "a:b", false)->cookie, "c");
	ck_assert_str_eq(ctf_rule_of(&ctf, "d", false)->cookie, "e");
	ck_assert_str_eq(ctf_rule_of(&ctf, "f:g", true)->ips, "i");
	ck_assert_ptr_null(ctf_rule_of(&ctf, "f:g", false));
	ctf_rules_release(&ctf);
}
END_TEST

START_TEST(rules_that_are_none_are_refused)
{
	static const char *const bad[] = { "a",	    "a(",     "(b)",   "a()",
					   "a(b,)", "a(b,c)", "a(b) x" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct ctf ctf = { .opts = { .request = bad[i] } };
		struct err err = { 0 };

		ck_assert_int_eq(ctf_rules_read(&ctf, &err), -1);
		ck_assert_int_eq(err.code, ERR_USAGE);
		ctf_rules_release(&ctf);
	}
}
END_TEST

RUN("ctf", places_of_a_packet_are_found, clock_and_environment_are_read,
    newer_metadata_is_told_apart, layout_that_is_not_understood_judges_nothing,
    whole_chain_is_one_part, cut_packet_is_a_bad_part_at_the_end,
    next_packet_behind_a_bad_one_is_found_at_a_page, other_traces_packet_is_bad,
    all_packets_may_have_another_uuid_than_the_metadata,
    pool_keeps_what_is_not_released_and_reuses_the_rest, rules_are_taken_apart,
    rules_that_are_none_are_refused)
