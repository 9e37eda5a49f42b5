/* simpleperf.c - what simpleperf of Android writes in its own records and
 * feature sections, as comments of its source describe them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/perf/perf.h"
#include "formats/reader/reader.h"
#include "stitch/base/err.h"

#define TYPE_DEX 3

int perf_simpleperf_event_ids(struct perf *p, struct bytes *b, struct err *err)
{
	uint64_t n, attr, id;

	if (bytes_u64(b, &n, err))
		return -1;
	for (uint64_t i = 0; i < n; i++) {
		if (bytes_u64(b, &attr, err) || bytes_u64(b, &id, err))
			return -1;
		if (attr >= p->n_attr)
			return err_at(err, b->path, bytes_off(b) - 16,
				      "an id of event %" PRIu64
				      ", the file has %zu events",
				      attr, p->n_attr);
		perf_id_add(p, id, (uint32_t)attr);
	}
	return rest_end(b, err);
}

/* Names the events of a line "sched:sched_switch,2,91": name, type, config. */
static void perf_simpleperf_name(struct perf *p, char *line)
{
	char *config = strrchr(line, ',');

	if (!config)
		return;
	*config++ = '\0';
	char *type = strrchr(line, ',');

	if (!type)
		return;
	*type++ = '\0';
	for (uint32_t i = 0; i < p->n_attr; i++)
		if (p->attr[i].type == strtoul(type, NULL, 10) &&
		    p->attr[i].config == strtoull(config, NULL, 10))
			perf_attr_set_name(p, i, line);
}

int perf_simpleperf_meta(struct perf *p, struct bytes *b, struct err *err)
{
	const char *key, *value;

	while (bytes_left(b)) {
		if (bytes_str(b, &key, err) || bytes_str(b, &value, err))
			return -1;
		if (!strcmp(key, "simpleperf_version"))
			p->src.info.version = arena_strdup(&p->arena, value);
		if (strcmp(key, "event_type_info") != 0)
			continue;
		char *copy = mem_strdup(value);
		char *rest = copy;

		for (char *s = strsep(&rest, "\n"); s; s = strsep(&rest, "\n"))
			perf_simpleperf_name(p, s);
		free(copy);
	}
	return 0;
}

/* Passes over files and their functions, which are not used; but their lengths
 * must lead to the end. Later versions added a number of 8 bytes to a file. */
int perf_simpleperf_files(struct perf *p UNUSED, struct bytes *b,
			  struct err *err)
{
	uint32_t size, type, n, n_offset, len;
	const char *name;
	struct bytes file;

	while (bytes_left(b)) {
		if (bytes_u32(b, &size, err) ||
		    bytes_take(b, size, &file, err) ||
		    bytes_str(&file, &name, err) ||
		    bytes_u32(&file, &type, err) || bytes_skip(&file, 8, err) ||
		    bytes_u32(&file, &n, err))
			return -1;
		for (; n; n--)
			if (bytes_skip(&file, 8, err) ||
			    bytes_u32(&file, &len, err) ||
			    bytes_str(&file, &name, err))
				return -1;
		if (type == TYPE_DEX &&
		    (bytes_u32(&file, &n_offset, err) ||
		     bytes_skip(&file, 8 * (uint64_t)n_offset, err)))
			return -1;
		if (bytes_left(&file) != 8 && rest_end(&file, err))
			return -1;
	}
	return 0;
}
