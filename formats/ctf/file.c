/* file.c - walks the packets of all stream files of a trace once, to learn
 * which stream each file belongs to and in which order the files follow. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/ctf/ctf.h"
#include "formats/reader/reader.h"

/* ---- checks that the recorder of an LTTng trace ended its streams.
 *
 * 'lttng stop' disables the events, and then ends the packet of each stream,
 * even one without events (lttng-ust and lttng-modules 2.13, SWITCH_FLUSH). So
 * no stream ends before an event of another one, and none is empty. If one
 * does, its next packet was not written: the consumer daemon died or still
 * writes, or found the buffer full.
 *
 * A rotation and a snapshot end one stream after the other, while events go on.
 * The names that lttng-tools gives their folders show them; under other names,
 * either the stream's last packet had no room for another event, or another
 * stream had more packets since. */

/* Returns whether a name begins like the pattern, in which 0 stands for a digit
 * and + for a sign. */
static bool ctf_ends_name_is(const char *name, const char *pattern)
{
	for (; *pattern; name++, pattern++)
		if (*pattern == '0'   ? *name < '0' || *name > '9'
		    : *pattern == '+' ? *name != '+' && *name != '-'
				      : *name != *pattern)
			return false;
	return true;
}

/* Returns whether the path contains the folder of a chunk or of a snapshot. */
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

void ctf_ends_check(struct ctf_trace *tr)
{
	/* Note what a ring of files, or a snapshot, has overwritten. */
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
		const struct ctf_packet *p = &s->packet;

		if (!s->has_before || !p->has_end || p->cut || s->is_short ||
		    end >= newest || ctf_ends_is_piece(s->path))
			continue;
		/* the last packet had room for another event */
		if (end >= begun &&
		    (p->len != p->plan->packet_most ||
		     p->len * 8 - p->end >= p->plan->event_most))
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

/* lttng-tools, include/lttng/lttng-index.h: big endian on all machines. */
#define INDEX_MAGIC 0xC1F1DCC1u
#define ENTRY_LEAST 56u

/* Adds the ids, numbers and times of a packet to its file. */
static void ctf_file_note(struct ctf_file *f, const struct ctf_state *st,
			  const struct ctf_packet *p)
{
	const struct ctf_clock *c = ctf_schema_clock(f->schema, p->plan->sc);
	bool first = !f->packets++;

	if (first) {
		f->class_id = p->plan->sc->id;
		f->has_id = st->roles >> CTF_STREAM_ID & 1;
		f->id = st->role[CTF_STREAM_ID];
		f->has_seq = st->roles >> CTF_PACKET_SEQ & 1;
		f->seq = st->role[CTF_PACKET_SEQ];
		f->has_time = c && p->has_begin;
	}
	f->last_seq = st->role[CTF_PACKET_SEQ];
	if (!c || !p->has_begin)
		return;
	const uint64_t begin = ctf_clock_ns(c, p->begin);
	const uint64_t end = p->has_end ? ctf_clock_ns(c, p->finish) : begin;

	if (first || begin < f->begin)
		f->begin = begin;
	raise_to(f->last_end, end);
	if (!f->first_end && end > begin)
		f->first_end = end;
}

static void ctf_file_add(struct ctf *ctf, struct ctf_schema *sm, uint32_t trace,
			 char *path, bool is_short, struct ctf_state *st)
{
	uint64_t len;
	void *data = ctf_file_map_noted(ctf, path, &len);
	uint8_t uuid[CTF_UUID];
	struct ctf_packet p;
	struct bytes b;

	if (!data) {
		free(path);
		return;
	}
	struct ctf_file *f = mem_add(ctf->file, ctf->n_file, ctf->cap_file);

	*f = (struct ctf_file){
		.path = path,
		.schema = sm,
		.trace = trace,
		.is_short = is_short,
		.order = (uint32_t)ctf->n_file,
	};
	ctf->src.size += len;
	memset(st->clock, 0, (sm->tree.n_clock + 1) * sizeof(*st->clock));
	bytes_init(&b, data, len, path, 0, false);
	const uint8_t *must = ctf_packet_uuid(sm, st, &b, uuid) ? uuid : NULL;

	while (bytes_left(&b)) {
		uint64_t n;

		if (!ctf_packet_read(sm, st, &b, must, &p)) {
			ctf_file_note(f, st, &p);
			ctf_copies_note(ctf, f, st, &p);
			n = p.len;
		} else {
			n = ctf_packet_find(sm, st, &b, 1, must, &p);
		}
		if (bytes_skip(&b, n, NULL))
			break;
	}
	ctf_file_unmap(data, len);
}

/* ---- the index that LTTng keeps of a stream file: shows whether the file is
 * complete
 *
 * A file that was cut between two packets, by a full disk or because it was
 * copied while it was written, looks whole. An index is trusted only if its
 * packets follow each other from the start of the file, one of them begins
 * where the file ends, and the one before it ends there. Its other fields are
 * not used, as the packets have them too. */

/* Reads the header of an index. Returns the size of its entries, or 0 if this
 * is no index. */
static uint32_t ctf_index_head(struct bytes *b)
{
	uint32_t magic, major, minor, len;

	if (bytes_u32(b, &magic, NULL) || bytes_u32(b, &major, NULL) ||
	    bytes_u32(b, &minor, NULL) || bytes_u32(b, &len, NULL) ||
	    magic != INDEX_MAGIC || major != 1 || len < ENTRY_LEAST)
		return 0;
	return len;
}

/* Returns how many packets of the index are beyond the end of the file, or 0 if
 * the index does not belong to this file. */
static uint64_t ctf_index_count_missing(struct bytes *b, uint64_t file_len)
{
	const uint32_t len = ctf_index_head(b);
	uint64_t end = 0;
	uint64_t missing = 0;
	bool fits = false;

	while (len && bytes_left(b) >= len) {
		uint64_t off, bits;

		if (bytes_peek_u64(b, 0, &off) || bytes_peek_u64(b, 8, &bits) ||
		    off != end || !bits || bits % 8 ||
		    __builtin_add_overflow(off, bits / 8, &end) ||
		    bytes_skip(b, len, NULL))
			return 0;
		fits |= off == file_len;
		missing += off >= file_len;
	}
	return fits ? missing : 0;
}

/* Returns whether the index of a stream file has packets beyond the file's end,
 * and notes that as damage. */
static bool ctf_index_check(const struct ctf *ctf, const char *folder,
			    const char *name, uint64_t file_len)
{
	char *file = ctf_find_join_path(folder, name);
	char *path = mem_printf("%s/index/%s.idx", folder, name);
	uint64_t len;
	void *data = ctf_file_map(path, &len);
	struct bytes b;

	bytes_init(&b, data, len, path, 0, bytes_must_swap(true));
	const uint64_t missing =
		data ? ctf_index_count_missing(&b, file_len) : 0;

	if (missing)
		reader_damage_text(
			&ctf->src, file, "truncated", file_len, 0,
			"the file ends here, %" PRIu64
			" packet%s short of its index: it was cut, or copied "
			"while it was written",
			missing, missing == 1 ? "" : "s");
	ctf_file_unmap(data, len);
	free_all(path, file);
	return missing;
}

/* Returns whether the index has a packet of a stream file that does not
 * exist. */
static bool ctf_index_misses(const char *idx, const char *file)
{
	struct stat st;
	struct bytes b;
	uint64_t len;

	if (!stat(file, &st) || errno != ENOENT)
		return false;
	void *data = ctf_file_map(idx, &len);

	bytes_init(&b, data, len, idx, 0, bytes_must_swap(true));
	const uint32_t entry = data ? ctf_index_head(&b) : 0;
	const bool yes = entry && bytes_left(&b) >= entry;

	ctf_file_unmap(data, len);
	return yes;
}

/* Notes as damage each index whose stream file is missing. */
static void ctf_index_check_files(struct ctf *ctf, const char *folder)
{
	char *dir OWNED = ctf_find_join_path(folder, "index");
	struct dirent **list OWNED = NULL;
	const int n = ctf_find_list(NULL, dir, &list);

	for (int i = 0; i < n; i++) {
		char *idx = ctf_find_join_path(dir, list[i]->d_name);
		char *dot = strrchr(list[i]->d_name, '.');

		if (dot && !strcmp(dot, ".idx")) {
			*dot = '\0';
			char *file OWNED =
				ctf_find_join_path(folder, list[i]->d_name);

			if (ctf_index_misses(idx, file))
				reader_damage_text(
					&ctf->src, file, "file", 0, 0,
					"the file is missing, though its index "
					"has packets: give the folder as it "
					"was recorded");
		}
		free_all(idx, list[i]);
	}
}

void ctf_files_add(struct ctf *ctf, const char *folder, struct ctf_schema *sm,
		   uint32_t trace)
{
	struct ctf_state st = {
		.slot = mem_new(sm->n_slot + 1, sizeof(*st.slot)),
		.clock = mem_new(sm->tree.n_clock + 1, sizeof(*st.clock)),
	};
	struct dirent **list OWNED = NULL;
	int n = ctf_find_list(ctf, folder, &list);
	struct ctf_trace *tr = &ctf->trace[trace];

	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;
		bool is_short;
		struct stat file;
		char *path = ctf_find_join_path(folder, name);

		if (*name != '.' && strcmp(name, "metadata") &&
		    !stat(path, &file) && S_ISREG(file.st_mode)) {
			is_short = sm->lttng &&
				   ctf_index_check(ctf, folder, name,
						   (uint64_t)file.st_size);
			if (!file.st_size && !is_short && !tr->empty &&
			    tr->schema->ends_all && !ctf_ends_is_piece(path))
				tr->empty = arena_strdup(&ctf->arena, path);
			ctf_file_add(ctf, sm, trace, path, is_short, &st);
		} else {
			free(path);
		}
		free(list[i]);
	}
	if (sm->lttng)
		ctf_index_check_files(ctf, folder);
	free_all(st.slot, st.clock);
	ctf_state_release(&st);
}
