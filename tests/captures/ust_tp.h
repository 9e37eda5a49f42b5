/* ust_tp.h - the tracepoints of ust.c. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER stitch
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./ust_tp.h"
#if !defined(UST_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define UST_TP_H
#include <lttng/tracepoint.h>
#include <stdint.h>

/* fields follow each other without commas */
/* clang-format off */
LTTNG_UST_TRACEPOINT_ENUM(stitch, colour,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("RED", 0)
		lttng_ust_field_enum_range("BLUE", 1, 3)))

LTTNG_UST_TRACEPOINT_EVENT(stitch, step,
	LTTNG_UST_TP_ARGS(int, i, const char *, text, const uint16_t *, list,
			  size_t, n),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, i, i)
		lttng_ust_field_integer_hex(uint64_t, where, (uint64_t)i << 40)
		lttng_ust_field_integer_network(uint32_t, net, (uint32_t)i)
		lttng_ust_field_float(double, half, i / 2.0)
		lttng_ust_field_float(float, third, (float)i / 3)
		lttng_ust_field_string(text, text)
		lttng_ust_field_enum(stitch, colour, int, colour, i % 5)
		lttng_ust_field_array(uint8_t, fixed, text, 2)
		lttng_ust_field_sequence(uint16_t, list, list, size_t, n)
		lttng_ust_field_sequence_text(char, part, text, size_t, n)))

LTTNG_UST_TRACEPOINT_EVENT(stitch, bare, LTTNG_UST_TP_ARGS(),
	LTTNG_UST_TP_FIELDS())

/* a request, and the stack that follows it later */
LTTNG_UST_TRACEPOINT_EVENT(stitch, request, LTTNG_UST_TP_ARGS(uint64_t, cookie),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, cookie, cookie)))

LTTNG_UST_TRACEPOINT_EVENT(stitch, ustack,
	LTTNG_UST_TP_ARGS(uint64_t, cookie, const uint64_t *, ips, size_t, n),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, cookie, cookie)
		lttng_ust_field_sequence(uint64_t, ips, ips, size_t, n)))
/* clang-format on */
#endif
#include <lttng/tracepoint-event.h>
