/* ends.c - whether the recorder of an LTTng trace ended its streams.
 *
 * 'lttng stop' turns the events off, and then ends the packet of each stream,
 * also one without events (lttng-ust and lttng-modules 2.13, SWITCH_FLUSH). So
 * no stream ends before an event of another one, and none is empty. Where one
 * does, its next packet was not written: the consumer daemon died or still
 * writes, or found the buffer full.
 *
 * A rotation and a snapshot end one stream after the other, while events go on.
 * They are known by the names that lttng-tools gives their folders; should
 * these be others, either the stream's last packet had no room for another
 * event, or another stream had more packets since. */
#include <inttypes.h>
#include <string.h>

#include "formats/ctf/ctf.h"
#include "formats/reader/reader.h"

/* Does a name begin like the pattern, in which 0 is a digit and + a sign? */
static bool ctf_ends_name_is(const char *name, const char *pattern)
{
	for (; *pattern; name++, pattern++)
		if (*pattern == '0'   ? *name < '0' || *name > '9'
		    : *pattern == '+' ? *name != '+' && *name != '-'
				      : *name != *pattern)
			return false;
	return true;
}

/* Is the file of a chunk or of a snapshot? */
static bool ctf_ends_is_piece(const char *path)
{
	for (; path; path = strchr(path, '/')) {
		path += *path == '/';
		if (ctf_ends_name_is(path, "00000000T000000+0000-00000000T") ||
		    ctf_ends_name_is(path, "snapshot-0"))
			return true;
	}
	return false;
}

/* Is there no room for another event in the stream's last packet? */
static bool ctf_ends_full(const struct ctf_stream *s)
{
	const struct ctf_packet *p = &s->packet;

	return p->len == p->plan->packet_most &&
	       p->len * 8 - p->end < p->plan->event_most;
}

void ctf_ends_check(struct ctf_trace *tr)
{
	/* Says what a ring of files, or a snapshot, no longer has. */
	char text[240];

	if (tr->n_rings) {
		snprintf(
			text, sizeof(text),
			"%" PRIu64 " packets of %" PRIu64
			" stream%s from %.6f to %.6f s were overwritten by newer ones: "
			"by a ring of files (--tracefile-count), or before a snapshot",
			tr->n_overwritten, tr->n_rings,
			tr->n_rings == 1 ? "" : "s", (double)tr->start / 1e9,
			(double)tr->ring_begin / 1e9);
		reader_note(&tr->ctf->src, "ring", text);
	}
	const struct ctf_stream *stream = &tr->ctf->stream[tr->first_stream];
	uint64_t newest = 0;
	uint64_t begun = 0;
	struct source *src = &tr->ctf->src;

	for (size_t i = 0; tr->schema->ends_all && i < tr->n_stream; i++) {
		raise_to(newest, stream[i].last);
		raise_to(begun, stream[i].begun);
	}
	for (size_t i = 0; newest && i < tr->n_stream; i++) {
		const struct ctf_stream *s = &stream[i];
		const uint64_t end = ctf_stream_time(s, s->end);

		if (!s->has_before || !s->packet.has_end || s->packet.cut ||
		    s->is_short || end >= newest ||
		    (!ctf_ends_full(s) && end >= begun) ||
		    ctf_ends_is_piece(s->path))
			continue;
		reader_damage_text(
			src, s->path, "truncated", s->len, 0,
			"the stream's next packet was not written, while "
			"another stream goes on for %" PRIu64
			" us: the recorder was killed, or still writes "
			"('lttng stop' ends it)",
			(newest - end) / 1000);
		src->info.truncated = true;
	}
	if (!newest || !tr->empty)
		return;
	reader_damage_text(
		src, tr->empty, "truncated", 0, 0,
		"no packet of this stream is there: the recorder was killed, or still writes ('lttng stop' ends it), or the file was emptied");
	src->info.truncated = true;
}

void ctf_ends_note_empty(struct ctf_trace *tr, const char *path)
{
	if (!tr->empty && tr->schema->ends_all && !ctf_ends_is_piece(path))
		tr->empty = arena_strdup(&tr->ctf->arena, path);
}
