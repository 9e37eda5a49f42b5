/* human.h - formats numbers for people. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* These format into buf and return it.
 * "999", "12.3 k", "1.56 M": for rates and progress. */
const char *human_count(char *buf, size_t size, uint64_t n);
/* "1,234,567"; 32 bytes are always enough. */
const char *human_grouped(char *buf, size_t size, uint64_t n);
/* "1,234,567 samples", "1 sample". */
const char *human_noun(char *buf, size_t size, uint64_t n, const char *noun);
/* "230 MB": powers of 1000, as disks are sold. */
const char *human_bytes(char *buf, size_t size, uint64_t n);
/* "3.21 s", "12.5 ms", "800 ns". */
const char *human_ns(char *buf, size_t size, int64_t ns);
/* A time in seconds, cut to microseconds: "12.345678", "-0.000001"; 32 bytes
 * are always enough. */
const char *human_seconds(char *buf, size_t size, int64_t ns);
#define HUMAN_SPAN 64
/* "12.500000,13.250001": two times as --time takes them, rounded outwards to
 * microseconds. */
const char *human_span(char buf[HUMAN_SPAN], int64_t from, int64_t to);
/* Formats a share as in all tables, sentences and pictures: percent with two
 * decimals, rounded. 0.00 is nothing and 100.00 is all; a share close to these
 * is "<0.01" or ">99.99". percent() in picture.js does the same. */
const char *human_share(char *buf, size_t size, double part, double whole);
/* The same with the sign, "12.35 %"; 16 bytes are always enough. */
const char *human_percent(char *buf, size_t size, double part, double whole);
/* These need no buffer: the text is valid until the end of the block, so use
 * them in arguments of a call. */
#define HUMAN_GROUPED(n) human_grouped((char[32]){ 0 }, 32, (uint64_t)(n))
#define HUMAN_NOUN(n, noun) human_noun((char[64]){ 0 }, 64, (uint64_t)(n), noun)
#define HUMAN_NS(ns) human_ns((char[32]){ 0 }, 32, (int64_t)(ns))
#define HUMAN_BYTES(n) human_bytes((char[32]){ 0 }, 32, (uint64_t)(n))
#define HUMAN_COUNT(n) human_count((char[32]){ 0 }, 32, (uint64_t)(n))
#define HUMAN_SECONDS(ns) human_seconds((char[32]){ 0 }, 32, (int64_t)(ns))
#define HUMAN_SHARE(part, whole)                                               \
	human_share((char[16]){ 0 }, 16, (double)(part), (double)(whole))
#define HUMAN_PERCENT(part, whole)                                             \
	human_percent((char[16]){ 0 }, 16, (double)(part), (double)(whole))
/* Writes n / d with `decimals` decimals, truncated; the decimal point is '.' in
 * every locale. */
void human_put_fixed(FILE *out, uint64_t n, uint64_t d, unsigned int decimals);
