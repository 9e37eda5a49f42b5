/* md5.c - tests of stitch/base/md5.c: checksums of RFC 1321, and of lengths
 * around a block. */
#include "stitch/base/md5.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/run.h"

static const struct {
	const char *name, *text, *md5;
} of[] = {
	{ "of_nothing", "", "d41d8cd98f00b204e9800998ecf8427e" },
	{ "of_a", "a", "0cc175b9c0f1b6a831c399e269772661" },
	{ "of_abc", "abc", "900150983cd24fb0d6963f7d28e17f72" },
	{ "of_a_message", "message digest",
	  "f96b697d7cb7938d525a2f31aaf161d0" },
	{ "of_62_bytes",
	  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
	  "d174ab98d277d9f5a5611c2c9f419d9f" },
	{ "of_80_bytes",
	  "12345678901234567890123456789012345678901234567890123456789012345678"
	  "901234567890",
	  "57edf4a22be3c955ac49da2e2107b67a" },
};

START_TEST(a_checksum_is_that_of_the_document)
{
	uint8_t md5[MD5_SIZE];
	char hex[2 * MD5_SIZE + 1];

	md5_of(of[_i].text, strlen(of[_i].text), md5);
	for (size_t i = 0; i < MD5_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", md5[i]);
	ck_assert_str_eq(hex, of[_i].md5);
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(a_checksum_is_that_of_the_document, of),
};

START_TEST(blocks_follow_one_another)
{
	/* of 1,000,000 times 'a' */
	static const uint8_t want[MD5_SIZE] = { 0x77, 0x07, 0xd6, 0xae,
						0x4e, 0x02, 0x7c, 0x70,
						0xee, 0xa2, 0xa9, 0x35,
						0xc2, 0x29, 0x6f, 0x21 };
	static char text[1000000];
	uint8_t md5[MD5_SIZE];

	memset(text, 'a', sizeof(text));
	md5_of(text, sizeof(text), md5);
	ck_assert_mem_eq(md5, want, MD5_SIZE);
}
END_TEST

RUN_TABLES("md5", tables, blocks_follow_one_another)
