/* clocks.h - knows the clocks of captures, and formats times as text. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/source.h"

/* Returns the clock with this name of perf, ftrace, LTTng or the user;
 * CLOCK_ID_NONE if it is unknown, does not count ns, or name is NULL. */
enum clock_id clock_id_of(const char *name);
/* Returns true for clocks whose rate the system adjusts: realtime, and others
 * that NTP steers. Other clocks deviate by their own errors only. */
bool clock_is_steered(enum clock_id id);
/* Returns how many ns ago this machine's clock had this time, negative if it is
 * in the future; 0 if the clock cannot be read. ftrace's clocks count as
 * perf's; if perf events are not permitted, CLOCK_MONOTONIC_RAW replaces both:
 * in a KVM guest they were 16 ms apart, and 100 ms ahead of it
 * (kernel/sched/clock.c). */
int64_t clock_age(enum clock_id id, int64_t ns);
/* Returns true if times are CPU cycles that must be converted to ns. */
bool clock_is_raw(const struct source_info *info);

/* Bytes that clock_utc() writes at most, with the final 0. */
#define CLOCK_UTC_SIZE 64
/* Writes ns since 1970 as "2026-11-20T14:03:07.123456789Z". Returns the length,
 * or 0 if the year is out of range. */
size_t clock_utc(int64_t ns, char buf[CLOCK_UTC_SIZE]);
