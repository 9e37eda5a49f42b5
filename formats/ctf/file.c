/* file.c - the stream files of a trace: walks their packets once, to know which
 * stream they belong to and in which order their files follow. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/ctf/ctf.h"

/* Takes what a packet tells about its file. */
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
	if (!f->first_end && p->has_end && p->end > p->body)
		f->first_end = end;
}

static void ctf_file_add(struct ctf *ctf, struct ctf_schema *sm, uint32_t trace,
			 char *path, bool is_short, struct ctf_state *st)
{
	uint64_t len;
	void *data = ctf_file_map_told(ctf, path, &len);
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

void ctf_files_add(struct ctf *ctf, const char *folder, struct ctf_schema *sm,
		   uint32_t trace)
{
	struct ctf_state st = {
		.slot = mem_new(sm->n_slot + 1, sizeof(*st.slot)),
		.clock = mem_new(sm->tree.n_clock + 1, sizeof(*st.clock)),
	};
	struct dirent **list;
	int n = ctf_find_list(ctf, folder, &list);

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
			if (!file.st_size && !is_short)
				ctf_ends_note_empty(&ctf->trace[trace], path);
			ctf_file_add(ctf, sm, trace, path, is_short, &st);
		} else {
			free(path);
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	if (sm->lttng)
		ctf_index_check_files(ctf, folder);
	free(st.slot);
	free(st.clock);
	ctf_state_release(&st);
}
