/* futexes.c - where events have the address of a futex. */
#include "analyze/latency/futexes.h"

#include <string.h>

#include "stitch/source.h"
#include "tests/unit/run.h"

static const struct field_def raw[] = { { .name = "id" },
					{ .name = "args", .is_blob = true } };
static const struct field_def named[] = { { .name = "__syscall_nr" },
					  { .name = "uaddr" } };

START_TEST(calls_of_futex_have_an_address_by_any_recorders_name)
{
	struct futex_at at;

	ck_assert(futexes_find("raw_syscalls:sys_enter", raw, 2, &at));
	ck_assert(at.number == 1 && at.addr == 2);
	ck_assert(futexes_find("syscalls:sys_enter_futex", named, 2, &at));
	ck_assert(at.number == 0 && at.addr == 2);
	ck_assert(futexes_find("syscall_entry_futex", named, 2, &at));
	ck_assert(futexes_find("syscalls:sys_enter_futex_wait", named, 2, &at));
	ck_assert(
		!futexes_find("syscalls:sys_enter_futex_waitv", named, 2, &at));
	ck_assert(!futexes_find("syscalls:sys_exit_futex", named, 2, &at));
	ck_assert(!futexes_find("raw_syscalls:sys_exit", raw, 2, &at));
	ck_assert(!futexes_find("raw_syscalls:sys_enter", named, 2, &at));
}
END_TEST

START_TEST(numbers_of_futex_are_those_of_the_machine)
{
	struct futex_numbers n;

	/* asm/unistd_64.h: futex, futex_wait, futex_wake; asm/unistd_32.h:
	 * futex, futex_time64, and the same two */
	futexes_numbers("x86_64", &n);
	ck_assert_int_eq(n.n, 5);
	ck_assert(n.number[0] == 202 && n.number[1] == 455 &&
		  n.number[2] == 454 && n.number[3] == 240 &&
		  n.number[4] == 422);
	futexes_numbers("aarch64", &n);
	ck_assert(n.n == 3 && n.number[0] == 98);
	futexes_numbers("vax", &n);
	ck_assert_int_eq(n.n, 0);
}
END_TEST

START_TEST(the_first_argument_is_read_in_the_machines_byte_order)
{
	const struct futex_at at = { 2, 1 };
	unsigned char args[48] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct field f[2] = { { .present = true, .num = 202 },
			      { .present = true, .blob = args, .len = 48 } };
	uint64_t addr;

	ck_assert(futexes_addr(&at, "x86_64", f, &addr));
	ck_assert_uint_eq(addr, 0x0807060504030201);
	ck_assert(futexes_addr(&at, "s390x", f, &addr));
	ck_assert_uint_eq(addr, 0x0102030405060708);
	f[1].len = 24;
	ck_assert(futexes_addr(&at, "i386", f, &addr));
	ck_assert_uint_eq(addr, 0x04030201);
	f[1].len = 7;
	ck_assert(!futexes_addr(&at, "x86_64", f, &addr));
	f[1].present = false;
	ck_assert(!futexes_addr(&at, "x86_64", f, &addr));
}
END_TEST

RUN("futexes", calls_of_futex_have_an_address_by_any_recorders_name,
    numbers_of_futex_are_those_of_the_machine,
    the_first_argument_is_read_in_the_machines_byte_order)
