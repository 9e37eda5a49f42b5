/* ctf_ring.c - messages from one process to another. */
#include "formats/ctf/ring.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/run.h"

#define SECONDS 30

static struct ctf_ring *rg;
static pid_t child;

/* true: in the writer. */
static bool ctf_ring_start(void)
{
	rg = ctf_ring_new(NULL);
	ck_assert_ptr_nonnull(rg);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child)
		ctf_ring_reader(rg);
	else
		ctf_ring_writer(rg);
	return !child;
}

static void ctf_ring_stop(void)
{
	ctf_ring_free(rg);
	waitpid(child, NULL, 0);
}

static void send_one(uint32_t kind, size_t len)
{
	struct ctf_msg *m = ctf_ring_put(rg, len);

	if (!m)
		_exit(1);
	m->kind = kind;
	memset(m + 1, (int)kind, len);
}

static void ctf_ring_expect(uint32_t kind, size_t len)
{
	const unsigned char *body;
	struct ctf_msg m;

	ck_assert_int_eq(ctf_ring_get(rg, &m, &body, SECONDS), 1);
	ck_assert_uint_eq(m.kind, kind);
	ck_assert_uint_eq(m.len, len);
	for (size_t i = 0; i < len; i += 97)
		ck_assert_uint_eq(body[i], kind & 255);
}

static void ctf_ring_expect_end(void)
{
	const unsigned char *body;
	struct ctf_msg m;

	ck_assert_int_eq(ctf_ring_get(rg, &m, &body, SECONDS), 0);
}

START_TEST(more_than_all_blocks_hold_goes_through_in_order)
{
	if (ctf_ring_start()) {
		for (uint32_t i = 1; i <= 20000; i++)
			send_one(i, i % 700);
		send_one(7, CTF_RING_MAX / 2);
		ctf_ring_flush(rg);
		_exit(0);
	}
	for (uint32_t i = 1; i <= 20000; i++)
		ctf_ring_expect(i, i % 700);
	ctf_ring_expect(7, CTF_RING_MAX / 2);
	ctf_ring_expect_end();
	ctf_ring_stop();
}
END_TEST

START_TEST(what_was_put_before_the_writer_died_is_read)
{
	if (ctf_ring_start()) {
		for (uint32_t i = 1; i <= 3000; i++)
			send_one(i, 100);
		ctf_ring_note(rg, 5, 6);
		abort();
	}
	for (uint32_t i = 1; i <= 3000; i++)
		ctf_ring_expect(i, 100);
	ctf_ring_expect_end();
	ctf_ring_expect_end();
	uint32_t doing;
	uint64_t done;

	ctf_ring_noted(rg, &doing, &done);
	ck_assert_uint_eq(doing, 5);
	ck_assert_uint_eq(done, 6);
	ctf_ring_stop();
}
END_TEST

START_TEST(message_that_leaves_its_block_is_the_end)
{
	if (ctf_ring_start()) {
		send_one(1, 8);
		ctf_ring_put(rg, 8)->len = UINT32_MAX;
		_exit(0);
	}
	ctf_ring_expect(1, 8);
	ctf_ring_expect_end();
	ctf_ring_stop();
}
END_TEST

START_TEST(too_long_a_message_is_refused)
{
	if (ctf_ring_start())
		_exit(ctf_ring_put(rg, CTF_RING_MAX) ? 1 : 0);
	int status;

	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	ctf_ring_free(rg);
}
END_TEST

START_TEST(writer_that_says_nothing_is_late)
{
	const unsigned char *body;
	struct ctf_msg m;

	if (ctf_ring_start()) {
		pause();
		_exit(0);
	}
	ck_assert_int_eq(ctf_ring_get(rg, &m, &body, 0), -1);
	kill(child, SIGKILL);
	ctf_ring_expect_end();
	ctf_ring_stop();
}
END_TEST

RUN("ctf_ring", more_than_all_blocks_hold_goes_through_in_order,
    what_was_put_before_the_writer_died_is_read,
    message_that_leaves_its_block_is_the_end, too_long_a_message_is_refused,
    writer_that_says_nothing_is_late)
