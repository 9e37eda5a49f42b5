/* maps.c - the option PROCMAPS: copies of /proc/PID/maps that trace-cmd made of
 * the processes it was told to trace.
 *
 * trace-cmd reads them when the recording of a process ends, so they describe
 * the last program of the process: the rings are searched for its last exec.
 * The list has no file offsets. They are derived: a file is mapped as a whole,
 * so its lowest mapping begins at offset 0. */
#include <stdlib.h>
#include <string.h>

#include "formats/ftrace/ftrace.h"
#include "formats/ftrace/page.h"
#include "formats/ftrace/sync.h"
#include "stitch/tasks/snapshots.h"
#include "stitch/record.h"

#define MAPS_MAX 1000000u
/* How many mappings back another one of the same file may be. */
#define BACK 16

/* Takes "START END PATH", hexadecimal without 0x. */
static void ft_maps_add(struct ft *ft, const char *s, size_t first)
{
	char *at;
	uint64_t start = strtoull(s, &at, 16);
	uint64_t end = strtoull(at, &at, 16);

	if (*at++ != ' ' || end <= start || ft->n_map >= MAPS_MAX)
		return;
	struct rec_map m = { .start = start, .len = end - start };

	m.path = arena_strdup(&ft->arena, at);
	m.derived = *at == '/';
	/* The list is sorted by address: mappings of one file are near. */
	for (size_t i = ft->n_map;
	     m.derived && i > first && ft->n_map - i < BACK; i--) {
		const struct rec_map *was = &ft->map[i - 1];

		if (strcmp(was->path, m.path) != 0 || was->start > start)
			continue;
		m.pgoff = start - was->start + was->pgoff;
		break;
	}
	*mem_add(ft->map, ft->n_map, ft->cap_map) = m;
	ft->maps[ft->n_maps - 1].n++;
}

/* For each process: "PID COUNT COMM" (both hexadecimal) and COUNT lines. */
void ft_maps_read(struct ft *ft, char *rest)
{
	uint64_t left = 0;
	size_t first = ft->n_map;

	while (rest) {
		char *line = strsep(&rest, "\n");
		char *at = line;

		if (left) {
			left--;
			ft_maps_add(ft, line, first);
			continue;
		}
		if (!*line)
			continue;
		*mem_add(ft->maps, ft->n_maps,
			 ft->cap_maps) = (struct snapshot){
			.pid = (int32_t)(strtoul(at, &at, 16) & INT32_MAX),
			.time = TIME_NONE,
		};
		left = strtoul(at, &at, 16);
		first = ft->n_map;
	}
}

static void ft_maps_note_exec(struct ft *ft, int64_t pid, uint64_t time)
{
	for (size_t i = 0; i < ft->n_maps; i++)
		if (ft->maps[i].pid == pid && time <= INT64_MAX &&
		    (int64_t)time > ft->maps[i].time)
			ft->maps[i].time = (int64_t)time;
}

static void ft_maps_find_execs(struct ft *ft, struct ft_stream *s)
{
	for (uint64_t at = 0; s->len - at >= s->subbuf; at += s->subbuf) {
		struct ft_page pg;
		struct ft_entry e;

		if (ft_page_open(ft, s, at, &pg, NULL))
			continue;
		while (ft_page_next(ft, &pg, &e, NULL) > 0) {
			uint16_t id = 0;

			bytes_peek_u16(&e.b, 0, &id);
			const struct ft_type *t = ft_type_of(ft, id);

			if (t && t->role == ROLE_EXEC)
				ft_maps_note_exec(ft,
						  ft_field_number(t,
								  t->part.pid,
								  &e.b, -1),
						  ft_time(ft, s, e.time));
		}
	}
}

void ft_maps_date(struct ft *ft)
{
	size_t at = 0;

	for (size_t i = 0; i < ft->n_maps; i++) {
		ft->maps[i].map = ft->map ? ft->map + at : NULL;
		at += ft->maps[i].n;
	}
	if (ft->n_maps &&
	    any_where(ft->n_type, i, ft->type[i].role == ROLE_EXEC))
		for (size_t i = 0; i < ft->n_stream; i++)
			ft_maps_find_execs(ft, &ft->stream[i]);
	ft->src.info.maps = ft->maps;
	ft->src.info.n_maps = ft->n_maps;
}
