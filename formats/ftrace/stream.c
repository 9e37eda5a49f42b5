/* stream.c - merges all rings of a capture into one stream in time order.
 *
 * Each ring is sorted; a heap finds the earliest entry of all. A few entries of
 * each ring are read ahead, because the stacks of an event are entries after
 * it. A stack that belongs to an event does not become an event. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/code/maps.h"
#include "formats/ftrace/ftrace.h"
#include "formats/ftrace/pack.h"
#include "formats/ftrace/page.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/record.h"
#include "stitch/tasks/late_maps.h"

/* ftrace records no mappings. Those of the kernel and its modules are made from
 * the addresses in the capture's kallsyms. */

#define TYPE_OOL 2

static struct record *ft_synthetic_add(struct ft *ft, enum record_kind kind,
				       uint32_t flags)
{
	struct record *rec =
		mem_add(ft->synthetic, ft->n_synthetic, ft->cap_synthetic);

	*rec = (struct record){
		.kind = kind, .flags = flags, .pid = -1, .tid = -1, .cpu = -1
	};
	return rec;
}

static void ft_synthetic_add_symbol(struct ft *ft, const char *name,
				    uint64_t addr, uint64_t len, uint16_t type)
{
	ft_synthetic_add(ft, REC_KSYMBOL, REC_F_SYNTH)->ksymbol =
		(struct rec_ksymbol){ .addr = addr,
				      .len = (uint32_t)len,
				      .type = type,
				      .name = name };
}

/* Returns the ring that the counters describe; 0 if nothing was written to the
 * buffer. */
static uint32_t ft_synthetic_ring(const struct ft *ft, const struct ft_stat *st)
{
	for (uint32_t i = 0; st->buffer && i < ft->n_inst; i++)
		if (!strcmp(ft->inst[i].name, st->buffer))
			return i;
	return st->instance;
}

/* Counts as lost the entries that were read from the ring of a CPU, and whose
 * pages are not in the capture: the kernel counts each entry of a page that is
 * read (rb_advance_reader() and ring_buffer_read_page(), Linux 3.10 to 7.1).
 * Entries still in a ring that was read from may have come later. A file of
 * trace-cmd may have only a part of what was read, on purpose ('trace-cmd
 * split'). */
static void ft_synthetic_missing(struct ft *ft, struct ft_stat *st)
{
	uint64_t *lost = &st->lost[LOST_READ];
	char detail[160];
	uint64_t n = 0;

	for (size_t i = 0; i < ft->n_stream; i++)
		if (ft->stream[i].cpu == st->cpu &&
		    ft->stream[i].instance == ft_synthetic_ring(ft, st))
			n += ft->stream[i].n_entry;
	if (!ft->src.info.dir || st->had <= n ||
	    __builtin_add_overflow(*lost, st->had - n, lost))
		return;
	snprintf(detail, sizeof(detail),
		 "CPU %" PRId32 ": its ring had %" PRIu64
		 " entries, as its stats say, and %" PRIu64 " are here",
		 st->cpu, st->had, n);
	reader_note(&ft->src, "pages", detail);
}

/* Adds records with the total numbers of lost entries. */
static void ft_synthetic_last(struct ft *ft)
{
	for (size_t i = 0; i < ft->n_stat; i++)
		ft_synthetic_missing(ft, &ft->stat[i]);
	for (size_t i = 0; i < ft->n_stat * LOST_PLACES; i++) {
		const struct ft_stat *st = &ft->stat[i / LOST_PLACES];
		uint64_t n = st->lost[i % LOST_PLACES];

		if (!n)
			continue;
		struct record *rec = ft_synthetic_add(ft, REC_LOST_TOTAL, 0);

		rec->cpu = st->cpu;
		rec->ring = ft_synthetic_ring(ft, st);
		rec->lost.n = n;
		rec->lost.place = (enum lost_place)(i % LOST_PLACES);
		rec->lost.event = -1;
	}
}

/* ---- PROCMAPS. trace-cmd reads the mappings when the recording of a process
 * ends, so they describe the last program of the process: the rings are
 * searched for its last exec. The list has no file offsets. They are derived: a
 * file is mapped as a whole, so its lowest mapping begins at offset 0. */

#define MAPS_MAX 1000000u
/* How many mappings before this one another of the same file may be. */
#define BACK 16

/* Adds a mapping "START END PATH", hexadecimal without 0x. */
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
	/* The list is sorted by address, so mappings of one file are close. */
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

/* For each process there is "PID COUNT COMM" (both hexadecimal), and then COUNT
 * lines. */
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

/* Finds the time of the last exec of each process that has mappings. */
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

#define LAST_PAGES 16

static struct ft_item *ft_stream_item(struct ft_stream *s, uint32_t i)
{
	return &s->ring[(s->head + i) % FT_AHEAD];
}

static void ft_stream_add_item(struct ft_stream *s, const struct ft_item *it)
{
	*ft_stream_item(s, s->n++) = *it;
}

static void ft_stream_page_damaged(struct ft *ft, struct ft_stream *s,
				   uint64_t place, const struct err *why)
{
	struct ft_item it = { .kind = FT_BREAK, .time = s->last };

	reader_damage(&ft->src, "page", ft_stream_file_offset(s, place),
		      s->subbuf, why);
	ft_stream_add_item(s, &it);
}

static void ft_stream_add_lost(struct ft_stream *s, uint64_t time)
{
	struct ft_item it = {
		.kind = FT_LOST,
		.time = time,
		.place = s->lost_place,
	};

	s->lost_due = false;
	ft_stream_add_item(s, &it);
}

/* Opens the next page of a stream. Returns false if it cannot be read, or there
 * is none. */
static bool ft_stream_open_page(struct ft *ft, struct ft_stream *s)
{
	uint64_t place = s->next_page;
	struct err why;

	if (s->len - place < s->subbuf) {
		s->at_end = true;
		if (s->len > place) {
			err_at(&why, s->path, ft_stream_file_offset(s, place),
			       "a page of %" PRIu64 " bytes, needs %u",
			       s->len - place, s->subbuf);
			ft_stream_page_damaged(ft, s, place, &why);
		}
		return false;
	}
	s->next_page += s->subbuf;
	ft->walked += s->subbuf;
	ft->src.pos = (uint64_t)((double)ft->walked / (double)ft->walk_len *
				 (double)ft->src.size);
	if (ft_page_open(ft, s, place, &s->page, &why)) {
		ft_stream_page_damaged(ft, s, place, &why);
		return true;
	}
	s->in_page = true;
	if (!s->page.lost)
		return true;
	if (s->lost_due)
		ft_stream_add_lost(s, ft_time(ft, s, s->page.time));
	s->lost_due = true;
	s->lost_place = place;
	return true;
}

static bool ft_item_is_stack(const struct ft_item *it)
{
	return it->role >= ROLE_KSTACK && it->role <= ROLE_COOKIE;
}

/* Adds a stack to the event that it belongs to: the last event of the same task
 * in the same context. Returns false if there is none. */
static bool ft_stream_attach_stack(struct ft_stream *s,
				   const struct ft_item *stack)
{
	for (uint32_t i = s->n; i-- > 0;) {
		struct ft_item *it = ft_stream_item(s, i);
		uint64_t words = (stack->place - it->place) / 4;

		if (it->kind != FT_ENTRY)
			return false;
		if (it->pid != stack->pid || it->context != stack->context)
			continue;
		uint16_t *to =
			stack->role == ROLE_KSTACK ? &it->kern : &it->user;

		if (ft_item_is_stack(it) || it->role == ROLE_CHAIN ||
		    words > UINT16_MAX || *to)
			return false;
		*to = (uint16_t)words;
		it->cookie |= stack->role == ROLE_COOKIE;
		return true;
	}
	return false;
}

/* Makes the item of an entry in place: a copy of bytes that were just written
 * one by one would stall the processor. */
static inline void ft_stream_take_entry(struct ft *ft, struct ft_stream *s,
					const struct ft_entry *e)
{
	uint64_t time = ft_time(ft, s, e->time);
	uint32_t pid = 0;
	uint16_t id = 0;

	s->n_entry++;
	bytes_peek_u16(&e->b, 0, &id);
	bytes_peek_u32(&e->b, 4, &pid);
	const struct ft_type *t = ft_type_of(ft, id);

	if (s->lost_due)
		ft_stream_add_lost(s, time);
	struct ft_item *it = ft_stream_item(s, s->n);

	*it = (struct ft_item){
		.time = time,
		.place = e->place,
		.pid = (int32_t)pid,
		.id = id,
		.kind = FT_ENTRY,
		.role = t ? t->role : ROLE_PLAIN,
		.context = ft_entry_context(&e->b),
	};
	/* compare the length of the entry with its format */
	unsigned int width = ft->commit32 ? 4 : 8;
	struct err why;

	if (t && !ft_entry_fits(t, &e->b, width)) {
		ft_entry_misfit(t, &e->b, width, &why);
		reader_damage(&ft->src, "entry",
			      ft_stream_file_offset(s, e->place),
			      bytes_left(&e->b), &why);
	}
	const bool odd = it->pid < 0 || !thread_id_can_be(it->pid);

	if (odd || (ft->src.info.clock_id != CLOCK_ID_TAI &&
		    near_time_is_far(&s->near, it->time))) {
		uint64_t off = ft_stream_file_offset(s, it->place);
		size_t len = bytes_left(&e->b);

		if (odd)
			reader_damage_text(&ft->src, s->path, "entry", off, len,
					   "an entry of thread %" PRId32
					   ", needs 0 to %d",
					   it->pid, THREAD_ID_MAX);
		else
			reader_damage_text(&ft->src, s->path, "entry", off, len,
					   "an entry of %" PRIu64
					   " ns, years from those before it",
					   it->time);
		return;
	}
	/* trace-cmd saves the formats of the events that it enables, and
	 * another program may enable more in the same buffer */
	if (!t && ft->version && !ft->unread_formats)
		ledger_skip(ft->src.ledger, ft->src.index, "event", it->id,
			    ft_stream_file_offset(s, it->place),
			    "the file has no format for it");
	if (ft_item_is_stack(it) && ft_stream_attach_stack(s, it))
		return;
	if (time < s->last)
		reader_regress(&ft->src, ft_stream_file_offset(s, it->place),
			       time, s->last, s->cpu);
	else
		s->last = time;
	s->n++;
}

/* Reads ahead until the ring of items is full or the stream ends. One entry may
 * add two items: the loss before its page, and itself. */
static void ft_stream_fill(struct ft *ft, struct ft_stream *s)
{
	struct ft_entry e;
	struct err why;

	if (s->in_page && s->n_chunk && ft_page_again(ft, s, &s->page, &why)) {
		ft_stream_page_damaged(ft, s, s->page.place, &why);
		s->in_page = false;
	}
	while (s->n + 2 < FT_AHEAD && !s->at_end) {
		if (!s->in_page && !ft_stream_open_page(ft, s))
			break;
		if (!s->in_page)
			continue;
		int got = ft_page_next(ft, &s->page, &e, &why);

		if (got > 0) {
			ft_stream_take_entry(ft, s, &e);
			continue;
		}
		s->in_page = false;
		if (!got)
			got = ft_page_check_end(&s->page, &why);
		if (got < 0)
			ft_stream_page_damaged(ft, s, s->page.place, &why);
	}
	if (s->at_end && s->lost_due)
		ft_stream_add_lost(s, ft_time(ft, s, s->page.time));
}

static struct turn ft_heap_item(struct ft *ft, uint32_t stream)
{
	return (struct turn){ ft_stream_item(&ft->stream[stream], 0)->time,
			      stream };
}

/* Removes the earliest item and refills the stream's ring of items. */
static void ft_heap_drop_first(struct ft *ft)
{
	uint32_t stream = ft->heap[0].stream;
	struct ft_stream *s = &ft->stream[stream];

	s->head = (s->head + 1) % FT_AHEAD;
	s->n--;
	/* at least half of the ring is ahead, which is enough to find stacks */
	if (s->n < FT_AHEAD / 2 && !s->at_end)
		ft_stream_fill(ft, s);
	if (s->n)
		turns_put(ft->heap, ft->n_heap, 0, ft_heap_item(ft, stream));
	else if (--ft->n_heap)
		turns_put(ft->heap, ft->n_heap, 0, ft->heap[ft->n_heap]);
}

/* Returns ref.len of a sample: the distances to its stacks. */
static inline uint32_t ft_item_stacks(const struct ft_item *it)
{
	return it->kern | (uint32_t)it->user << 16;
}

/* Returns the handle of an item. Entries are at multiples of 4, so bit 0 is
 * free: it means that the thread's fork showed its process. */
static inline uint64_t ft_item_handle(const struct ft *ft,
				      const struct ft_item *it, uint32_t stream)
{
	return (uint64_t)stream << 48 | (it->place & PLACE_MASK) |
	       (ft->n_tgid && known_tasks_has_process(&ft->known, it->pid));
}

static inline struct event_def *ft_next_note_event(struct ft *ft,
						   const struct ft_stream *s,
						   const struct ft_item *it)
{
	uint32_t event = ft_event_find(ft, s->instance, it->id);

	if (event == UINT32_MAX)
		event = ft_event_add(ft, s->instance, it->id);
	struct event_def *def = &ft->event[event];

	def->has_chain |= it->kern || it->user;
	def->defer |= it->cookie || it->role == ROLE_COOKIE;
	return def;
}

/* Adds the refs of an item: what its event shows about tasks, then the
 * sample. */
static void ft_next_add_refs(struct ft *ft, uint32_t stream,
			     const struct ft_item *it)
{
	struct ft_stream *s = &ft->stream[stream];
	struct ref ev = {
		.key = it->time,
		.handle = ft_item_handle(ft, it, stream),
	};
	struct bytes raw;

	if (it->kind == FT_LOST) {
		ft->known.n_lost++;
		ft_add_ref(ft, &ev, CLASS_LOST, 0);
	}
	if (it->kind != FT_ENTRY)
		return;
	enum event_role role = it->role;
	bool look = role > ROLE_COOKIE && role != ROLE_CHAIN &&
		    !ft_entry_at(ft, s, it->place, &raw, NULL);
	const struct ft_type *t = look ? ft_type_of(ft, it->id) : NULL;

	if (look && role >= ROLE_SWITCH)
		ft_task_refs(ft, t, &ev, it->pid, &raw);
	else
		ft_task_refs(ft, NULL, &ev, it->pid, NULL);
	if (role == ROLE_CHAIN) {
		ft_add_ref(ft, &ev, CLASS_CHAIN, 0);
		return;
	}
	struct event_def *def = ft_next_note_event(ft, s, it);

	if (look && role == ROLE_INODE)
		ft_defer_inode(ft, t, &raw);
	ft_add_ref(ft, &ev, CLASS_SAMPLE, ft_item_stacks(it));
	if (look && role == ROLE_MARKER)
		ft_defer_refs(ft, t, &ev, &raw, def);
}

/* Takes the first item if it makes only a sample, as nearly all do: its event
 * has no facts about tasks, and its thread has its name. Returns false
 * otherwise. */
static inline bool ft_next_take_sample(struct ft *ft, struct ref *ref)
{
	uint32_t stream = ft->heap[0].stream;
	struct ft_stream *s = &ft->stream[stream];
	const struct ft_item *it = ft_stream_item(s, 0);

	if (it->kind != FT_ENTRY || it->role > ROLE_COOKIE ||
	    !ft_task_is_settled(ft, it->pid))
		return false;
	ft_next_note_event(ft, s, it);
	*ref = (struct ref){
		.key = it->time,
		.seq = ++ft->seq,
		.handle = ft_item_handle(ft, it, stream),
		.len = ft_item_stacks(it),
		.kind = CLASS_SAMPLE,
	};
	raise_to(ft->src.floor, it->time);
	ft_heap_drop_first(ft);
	return true;
}

static void ft_next_add_synthetic(struct ft *ft, uint64_t key, uint8_t kind)
{
	for (; ft->synthetic_pos < ft->n_synthetic; ft->synthetic_pos++) {
		const struct ref r = {
			.key = key,
			.handle = (uint64_t)FT_SYNTHETIC << 48 |
				  ft->synthetic_pos,
		};

		ft_add_ref(ft, &r, kind, 0);
		ft->due[ft->n_due - 1].untimed = 1;
	}
}

int ft_next(struct source *src, struct ref *ref, struct err *err UNUSED)
{
	struct ft *ft = ft_from_source(src);

	for (;;) {
		if (ft->due_pos < ft->n_due) {
			*ref = ft->due[ft->due_pos++];
			raise_to(src->floor, ref->key);
			return 1;
		}
		ft->n_due = ft->due_pos = 0;
		if (!ft->merging) {
			ft->merging = true;
			ft->heap = mem_new(ft->n_stream, sizeof(*ft->heap));
			for (uint32_t i = 0; i < ft->n_stream; i++)
				ft->walk_len += ft->stream[i].len;
			for (uint32_t i = 0; i < ft->n_stream; i++) {
				ft_stream_fill(ft, &ft->stream[i]);
				if (ft->stream[i].n)
					ft->heap[ft->n_heap++] =
						ft_heap_item(ft, i);
			}
			for (size_t i = ft->n_heap / 2; i-- > 0;)
				turns_put(ft->heap, ft->n_heap, i, ft->heap[i]);
			ft_next_add_synthetic(ft, 0, CLASS_MAP);
		} else if (ft->n_heap) {
			if (ft_next_take_sample(ft, ref))
				return 1;
			uint32_t stream = ft->heap[0].stream;

			ft_next_add_refs(
				ft, stream,
				ft_stream_item(&ft->stream[stream], 0));
			ft_heap_drop_first(ft);
		} else if (!ft->ended) {
			ft->ended = true;
			ft_synthetic_last(ft);
			ft_next_add_synthetic(ft, src->floor, CLASS_LOST);
		} else {
			src->floor = UINT64_MAX;
			src->pos = src->size;
			return 0;
		}
	}
}

static void ft_scan_note_time(struct ft *ft, uint64_t t)
{
	struct source_info *info = &ft->src.info;

	/* a record with an impossible time is damage */
	if (t > INT64_MAX)
		return;
	if (!info->last_ns || t < info->first_ns)
		info->first_ns = t;
	raise_to(info->last_ns, t);
}

/* Notes the times of the first and last entries of a ring. */
static void ft_scan_stream(struct ft *ft, struct ft_stream *s)
{
	uint64_t pages = s->len / s->subbuf;
	struct ft_page pg;
	struct ft_entry e;

	if (pages && !ft_page_open(ft, s, 0, &pg, NULL) &&
	    ft_page_next(ft, &pg, &e, NULL) > 0)
		ft_scan_note_time(ft, ft_time(ft, s, e.time));
	for (uint64_t i = 0; i < pages && i < LAST_PAGES; i++) {
		bool any = false;

		if (ft_page_open(ft, s, (pages - 1 - i) * s->subbuf, &pg, NULL))
			continue;
		while (ft_page_next(ft, &pg, &e, NULL) > 0)
			any = true;
		if (any) {
			ft_scan_note_time(ft, ft_time(ft, s, pg.time));
			return;
		}
	}
}

int ft_scan(struct source *src, struct err *err UNUSED)
{
	struct ft *ft = ft_from_source(src);
	struct source_info *info = &src->info;

	info->has_time = true;
	info->exact = true;
	info->calls = true;
	for (size_t i = 0; i < ft->n_stream; i++)
		ft_scan_stream(ft, &ft->stream[i]);
	/* these records are before the first entry */
	if (ft->kallsyms_len) {
		/* the code of the kernel and of its modules */
		struct kernel_map km;

		kernel_map_read(&km, ft->kallsyms, ft->kallsyms_len);
		ft_boot_moved(ft, km.text, km.etext);
		for (size_t i = 0; i < km.n; i++) {
			const struct kernel_code *c = &km.at[i];
			const char *name = arena_strdup(&ft->arena, c->name);

			if (c->is_symbol)
				ft_synthetic_add_symbol(ft, name, c->start,
							c->len, c->type);
			else
				ft_synthetic_add(ft, REC_MAP,
						 REC_F_SYNTH | REC_F_KERNEL)
					->map = (struct rec_map){
					.start = c->start,
					.len = c->len,
					.pgoff = c->pgoff,
					.prot = PROT_READ | PROT_EXEC,
					.path = name,
				};
		}
		kernel_map_release(&km);
	} else {
		ft_boot_moved(ft, 0, 0);
	}
	if (any_where(ft->n_type, i, ft->type[i].role == ROLE_KSTACK))
		ft_synthetic_add_symbol(ft, FTRACE_TRAMPOLINE,
					FTRACE_TRAMPOLINE_ADDR, 1, TYPE_OOL);
	/* Set the time since which the mappings hold. Call it after the rings
	 * are known. */
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
	return 0;
}
