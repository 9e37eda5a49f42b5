/* cpu_features.c - what feature sections of perf.data tell of the processor.
 *
 * Nothing else depends on it: each becomes a note, as perf report --header-only
 * prints it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/perf/perf.h"

#define NOTE_SIZE 512
/* From this version on of /proc/schedstat domains have names. */
#define DOMAINS_NAMED 17

int perf_feature_take_string(struct bytes *b, const char **out, struct err *err)
{
	struct bytes s;
	uint32_t n;

	if (bytes_u32(b, &n, err) || bytes_take(b, n, &s, err))
		return -1;
	return bytes_str(&s, out, err);
}

/* Takes u32 n and n times the name and the value of what a PMU can do. Appends
 * "NAME=VALUE" of each to the note; what does not fit is left out. */
static int cpu_take_pairs(struct bytes *b, char *note, struct err *err)
{
	const char *name;
	const char *value;
	uint32_t n;

	if (bytes_u32(b, &n, err))
		return -1;
	for (; n; n--) {
		size_t at = strlen(note);

		if (perf_feature_take_string(b, &name, err) ||
		    perf_feature_take_string(b, &value, err))
			return -1;
		if (strlen(name) + strlen(value) + 4 < NOTE_SIZE - at)
			snprintf(note + at, NOTE_SIZE - at, "%s%s=%s",
				 at ? ", " : "", name, value);
	}
	return 0;
}

/* A PMU of a virtual machine may tell nothing. */
static void cpu_note_pmu(struct perf *p, const char *pmu, const char *pairs)
{
	char note[NOTE_SIZE + 80];

	if (!*pairs)
		return;
	snprintf(note, sizeof(note), "PMU %.64s: %s", pmu, pairs);
	perf_note(p, "PMU", note);
}

int perf_feature_cpu_pmu_caps(struct perf *p, struct bytes *b, struct err *err)
{
	char pairs[NOTE_SIZE] = "";

	if (cpu_take_pairs(b, pairs, err))
		return -1;
	cpu_note_pmu(p, "cpu", pairs);
	return 0;
}

int perf_feature_pmu_caps(struct perf *p, struct bytes *b, struct err *err)
{
	const char *pmu;
	uint32_t n;

	if (bytes_u32(b, &n, err))
		return -1;
	for (; n; n--) {
		char pairs[NOTE_SIZE] = "";

		if (cpu_take_pairs(b, pairs, err) ||
		    perf_feature_take_string(b, &pmu, err))
			return -1;
		cpu_note_pmu(p, pmu, pairs);
	}
	return 0;
}

/* u32 version of /proc/schedstat, u32 a bound for the next; to the end for each
 * CPU u32 cpu, u32 n, and n domains: u32 number, a name since version 17, and
 * the CPUs in it as a mask and as a list. */
int perf_feature_cpu_domains(struct perf *p, struct bytes *b, struct err *err)
{
	char note[NOTE_SIZE];
	uint32_t version, n;
	uint32_t most = 0;
	uint32_t cpus = 0;
	const char *s;

	if (bytes_u32(b, &version, err) || bytes_skip(b, 4, err))
		return -1;
	for (; bytes_left(b) >= 8; cpus++) {
		if (bytes_skip(b, 4, err) || bytes_u32(b, &n, err))
			return -1;
		raise_to(most, n);
		for (; n; n--)
			if (bytes_skip(b, 4, err) ||
			    (version >= DOMAINS_NAMED &&
			     perf_feature_take_string(b, &s, err)) ||
			    perf_feature_take_string(b, &s, err) ||
			    perf_feature_take_string(b, &s, err))
				return -1;
	}
	snprintf(note, sizeof(note),
		 "%" PRIu32 " CPUs with up to %" PRIu32
		 " scheduling domain%s each (schedstat %" PRIu32 ")",
		 cpus, most, most == 1 ? "" : "s", version);
	perf_note(p, "domains", note);
	return 0;
}

int perf_feature_cache_line(struct perf *p, struct bytes *b, struct err *err)
{
	char note[NOTE_SIZE];
	uint32_t size;

	if (bytes_u32(b, &size, err))
		return -1;
	snprintf(note, sizeof(note), "cache lines of %" PRIu32 " bytes", size);
	perf_note(p, "cache line", note);
	return 0;
}
