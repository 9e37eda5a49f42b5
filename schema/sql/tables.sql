-- tables.sql - the tables of a backstitch database. Embedded at build time.
--
-- Times are ns on the timeline clock. Ids are dense. Addresses are SQLite's
-- signed integers (u64 above 2^63 wrap); every view shows them as hex text.
-- Small enumerations are integers with a row in `word`.

CREATE TABLE word(
-- One row per word of an enumeration: verdicts, confidence, quality, kinds.
	kind TEXT NOT NULL,	-- 'request', 'chain', 'confidence', 'quality',
				-- 'end', 'as_perf', 'gap', 'image', 'callsite',
				-- 'link'
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	PRIMARY KEY(kind, id)
) WITHOUT ROWID;

CREATE TABLE meta(
-- Facts about the run (capture 0) and its captures.
	capture INTEGER NOT NULL,
	key TEXT NOT NULL,
	value,
	PRIMARY KEY(capture, key)
) WITHOUT ROWID;

CREATE TABLE capture(
-- One row per capture that was read.
	id INTEGER PRIMARY KEY,
	path TEXT,
	format TEXT,		-- 'perf'
	bytes INTEGER,
	host TEXT, release TEXT, version TEXT, arch TEXT, cmdline TEXT,
	cpus INTEGER,		-- online; NULL not said
	clock TEXT,
	first_ns INTEGER, last_ns INTEGER,
	records INTEGER,
	samples INTEGER,
	system_wide INTEGER,	-- 1, 0, NULL not known
	exact_order INTEGER,	-- 1: nothing could come late
	complete INTEGER,	-- 0: truncated or damaged
	note TEXT,		-- 'compressed', 'pipe', 'big-endian', ... by commas
	-- How its times got onto the timeline; all NULL: they are as recorded.
	align TEXT,		-- 'reference', 'same_clock', 'events', ...
	offset_ns INTEGER,	-- added at its start; NULL: they were cycles
	drift_ppb REAL,		-- and how that grows
	error_ns INTEGER,	-- bound of the error; NULL not known
	pairs INTEGER,		-- switches that others have at the same time
	together INTEGER	-- capture.id of the first of the same kernel at
				-- the same time, as far as that is proved
);

CREATE TABLE process(
-- One process; a reused pid has several rows. Process 0 is the kernel, in
-- mapping only.
	id INTEGER PRIMARY KEY,
	capture INTEGER,	-- of several that know it the first
	pid INTEGER,
	parent INTEGER,		-- process.id; NULL not known
	start_ns INTEGER, end_ns INTEGER -- NULL: before, after the capture
);

CREATE TABLE thread(
-- One thread; a reused tid has several rows.
	id INTEGER PRIMARY KEY,
	process INTEGER,
	tid INTEGER,
	start_ns INTEGER, end_ns INTEGER
);

CREATE TABLE comm(
-- One name of one thread, from time_ns on.
	id INTEGER PRIMARY KEY,
	thread INTEGER,
	time_ns INTEGER,	-- NULL: before the capture
	exec INTEGER,
	name TEXT,		-- ':TID' until a record or a switch tells a name
	label TEXT		-- name as in folded stacks; NULL: the same
);

CREATE TABLE image(
-- A file or another source of code.
	id INTEGER PRIMARY KEY,
	kind INTEGER,		-- word 'image'
	path TEXT,
	build_id BLOB,		-- jit: hash of its name and code
	maj INTEGER, min INTEGER, ino INTEGER, ino_gen INTEGER,
	start INTEGER, len INTEGER, -- kernel code: where it was; jit, copy: len
	t0 INTEGER,		-- since when it is this version
	process INTEGER,	-- anonymous memory: whose
	file TEXT,		-- where its symbols were read; NULL not yet
	status TEXT,		-- 'named', 'unverified', or why there are no
				-- names: 'no file', 'other build-id',
				-- 'replaced', 'no ELF file', ...
	identity TEXT		-- what says that file is the one that ran:
				-- 'proved: build-id', 'believed: path', ...
);

CREATE TABLE internal_segment(
-- Program headers that hold code, from the image's file.
	image INTEGER,
	off INTEGER, vaddr INTEGER, filesz INTEGER, flags INTEGER
);

CREATE TABLE internal_image_section(
-- Hashes of the sections that names were read from, and of the code that the
-- call-site check read.
	image INTEGER,
	file TEXT,
	name TEXT,
	hash INTEGER,
	PRIMARY KEY(image, file, name)
) WITHOUT ROWID;

CREATE TABLE mapping(
-- Mappings of code, with address and time.
	id INTEGER PRIMARY KEY,
	process INTEGER,	-- 0: the kernel
	start INTEGER, "end" INTEGER, pgoff INTEGER,
	image INTEGER,
	prot INTEGER, flags INTEGER,
	t0 INTEGER, t1 INTEGER	-- NULL: before, after the capture
);

CREATE TABLE event_type(
-- Events that were recorded. Kind 'record': switches, throttling and the like.
	id INTEGER PRIMARY KEY,
	capture INTEGER,
	name TEXT,
	kind TEXT,		-- 'sample', 'record'
	type INTEGER, config INTEGER, sample_type INTEGER,
	period INTEGER, freq INTEGER,
	has_chain INTEGER,	-- takes callchains
	has_cpu INTEGER, has_time INTEGER,
	defer INTEGER,		-- asks for deferred user stacks
	defer_output INTEGER,
	events INTEGER,		-- rows in event, and the sum of their weights:
	weight INTEGER,		-- counting 1.5 M rows would take half a second
	format TEXT,		-- of the tracepoint's fields
	fields TEXT,		-- name of its ev_ table; NULL: none
	buffer TEXT,		-- ftrace instance; NULL: the top one
	how TEXT,		-- 'count', 'sample', 'read', 'mark'
	unit TEXT		-- of weights: 'ns', 'cycles', 'events'; NULL:
				-- kind 'record', which has none
);

CREATE TABLE event(
-- Every event, in time order. The only index is the id.
	id INTEGER PRIMARY KEY,
	time_ns INTEGER,	-- NULL: not timed
	cpu INTEGER,
	thread INTEGER,
	comm INTEGER,
	type INTEGER,
	weight INTEGER,
	kraw INTEGER,		-- raw_chain.id of the kernel half
	uraw INTEGER,		-- of the user half in the sample itself; for
				-- a request see request.uraw
	payload INTEGER,	-- payload.id; NULL: none, or an ev_ table has
				-- its fields
	raw_ns INTEGER		-- on the capture's clock; NULL: the same. Last:
				-- NULLs at the end of a row take no space
);

CREATE TABLE sample_group(
-- Samples with the same type, name and stacks, added up while events are
-- stored. One group may have several rows, to be added up.
	type INTEGER,		-- event_type.id
	comm INTEGER,		-- the first comm of that name
	kernel INTEGER,		-- stack.id of the kernel half
	user INTEGER,		-- and of the user half
	mark INTEGER,		-- NULL; 2: the user half is of another image,
				-- after exec; minus the verdict of a missing
				-- user half; or 100 + word 'unwind': it was
				-- not unwound to its outermost frame
	weight INTEGER, n INTEGER, -- sum of the weights; how many samples
	kernel_mark INTEGER	-- NULL; or 100 + word 'unwind': the kernel half
				-- is only the address that was hit
);

CREATE TABLE payload(
-- Raw payloads of tracepoint events without an ev_ table. Events with equal
-- payloads share one, most of the time.
	id INTEGER PRIMARY KEY,
	data BLOB
);

CREATE TABLE sample_extra(
-- Values of an event that have no column of their own.
	event INTEGER,
	name TEXT,
	value			-- integer or blob; numbers in it have 8 bytes,
				-- little-endian
);

CREATE TABLE branch(
-- Branches that the CPU recorded for a sample.
	event INTEGER,
	pos INTEGER,		-- 0: the newest
	"from" INTEGER, "to" INTEGER, flags INTEGER
);

CREATE TABLE frame(
-- A place in an image.
	id INTEGER PRIMARY KEY,
	image INTEGER,
	off INTEGER,		-- in the file; kernel: from _text, module: from
				-- its start; unknown: 0
	flags INTEGER,		-- 1 inferred, 2 uncertain, 4 of the program
				-- before exec, 8 derived: off is computed, or
				-- not one in the image, 16 ambiguous: one of
				-- the codes that the image's path names, 32
				-- jitted code that was logged a moment later,
				-- 64 by frame pointer, 128 not mapped as far
				-- as is known, which is not all, 256 off is
				-- without a signature that the address had
	vaddr INTEGER,		-- what addr2line wants; NULL not known
	symbol INTEGER,		-- symbol.id; NULL not named
	symoff INTEGER,		-- from the symbol's start
	file TEXT,		-- source; NULL: not known. Of a return address
	line INTEGER		-- these and symbol are of the call before it
);

CREATE TABLE stack(
-- A stack is a node of a tree: a frame, called by the stack parent.
	id INTEGER PRIMARY KEY,
	parent INTEGER,		-- < id; NULL: the outermost
	frame INTEGER,
	depth INTEGER,
	hash BLOB		-- of stacks in use: content, 128 bits
);

CREATE TABLE stack_path(
-- The frames of every stack in use; pos 0 is the innermost. The key has the
-- order of folded stacks, which therefore need no sorting.
	stack INTEGER,
	pos INTEGER,
	frame INTEGER,
	PRIMARY KEY(stack, pos DESC)
) WITHOUT ROWID;

CREATE TABLE internal_label(
-- The text of a frame in folded stacks: with ';' and control bytes replaced,
-- followed by inlined functions, marked _[k] kernel, _[i] inlined, _[j] JIT.
	frame INTEGER PRIMARY KEY,
	name TEXT
);

CREATE TABLE internal_callsite(
-- The instruction before a return address: a call or not.
	frame INTEGER PRIMARY KEY,
	kind INTEGER,		-- word 'callsite'; no_call, no_code: bogus
	target INTEGER,		-- of a direct call: vaddr; NULL: not one
	unverified INTEGER	-- 1: no build-id proves the file
);

CREATE TABLE internal_callsite_link(
-- Whether the call before a return address calls the function of the next
-- inner frame.
	inner INTEGER,		-- frame.id
	frame INTEGER,		-- frame.id: its caller in a stack
	link INTEGER,		-- word 'link'
	PRIMARY KEY(inner, frame)
) WITHOUT ROWID;

CREATE TABLE internal_stack_check(
-- The result of the call-site check for user stacks in use that have a return
-- address.
	stack INTEGER PRIMARY KEY,
	checked INTEGER,	-- return addresses that could be checked
	bogus INTEGER,		-- of them: no call returns to there
	first INTEGER,		-- pos of the innermost bogus one; NULL: none
	image INTEGER,		-- that of the frame before it: its code uses
				-- the frame pointer for something else
	gaps INTEGER,		-- places where a frame is missing
	caller INTEGER,		-- word 'link' of pos 1; NULL: bogus
	walked INTEGER		-- word 'walk': by what; NULL: not known
);

CREATE TABLE internal_judged(
-- The user stacks of samples of which something is wrong, or not known.
-- A user stack that is not here is whole, a kernel's is unchecked.
	stack INTEGER PRIMARY KEY,
	class INTEGER,		-- word 'judged'
	callerless INTEGER,	-- 1: the innermost function's caller is
				-- missing, by its unwind table or by where the
				-- calls in front of the return addresses lead
	image INTEGER		-- whose code is the cause: the file in which
				-- a stack ends early, whose innermost function
				-- lacks its caller, or before whose caller the
				-- first frame is that never was; NULL: none
);

CREATE TABLE internal_end(
-- What is known of the frames at both ends of the user stacks that were
-- recorded, and of those between that set no frame pointer.
	frame INTEGER PRIMARY KEY,
	start INTEGER,		-- of an outermost one, word 'start': a thread
				-- begins there ('table', 'entry', 'library',
				-- 'routine', 'mark'), or why a walk along
				-- frame pointers ended; of one between, why
				-- its caller is missing; of an innermost one,
				-- that a stack dump would end there or not
				-- much further out; of a frame of the kernel,
				-- that its stacks begin there ('kernel entry',
				-- 'interrupt entry'); NULL: not known
	open INTEGER,		-- of an innermost one, word 'judged': why its
				-- caller may be missing unnoticed; of one
				-- between, why the next may be any; of one of
				-- the kernel, whole or caller missing: is its
				-- caller there, or that its file is not here;
				-- NULL: not so
	bytes INTEGER,		-- of the stack that a function of Go has there;
				-- NULL: not known
	sframe INTEGER		-- 1: .sframe of its file covers it
) WITHOUT ROWID;

CREATE TABLE internal_frame_share(
-- Functions that set a frame pointer, of files that are named as the cause of
-- what is wrong with stacks.
	image INTEGER PRIMARY KEY,
	functions INTEGER,	-- that call others, of a large file a part
	framed INTEGER		-- and of them that set a frame pointer
) WITHOUT ROWID;

CREATE TABLE internal_user_trust(
-- Samples by how far their user stack can be trusted, for view trust. They are
-- added up once, while the stacks are in memory: in SQL, a million samples with
-- 200,000 different stacks take two seconds for each command that asks.
	type INTEGER,		-- event_type.id
	mark INTEGER,		-- as in sample_group
	judged TEXT,		-- of the stack alone: a class of view trust;
				-- NULL: there is no user stack
	frames INTEGER,		-- 127: of both halves as many were recorded as
				-- perf keeps; 8: as many as ftrace keeps; 1: a
				-- stack dump would end early: no unwind table
				-- covers the innermost, or internal_end has
				-- the reason; 2, 3: a dump of 16384 bytes, or
				-- of 65528, would be too small; else NULL
	n INTEGER,		-- samples
	image INTEGER		-- as in internal_judged
);

CREATE TABLE internal_deferral(
-- Joined requests by how long they waited for their user stack, for the
-- percentiles of info and check; exact ones take three seconds in SQL for
-- a million requests.
	type INTEGER,		-- event_type.id
	cpu INTEGER,		-- NULL: not recorded
	ns INTEGER,		-- at most; the longest of an event and CPU is
				-- exact, others are rounded up by less than a
				-- 32nd; 0 also: the sample is later than its
				-- chain
	n INTEGER		-- requests
);

CREATE TABLE raw_chain(
-- The addresses as recorded, for one stack. addrs: one varint (LEB128) of
-- each address's zigzag difference to the one before (first: to 0),
-- innermost first, stack.depth of them.
	id INTEGER PRIMARY KEY,
	stack INTEGER,
	addrs BLOB,
	ended INTEGER,		-- word 'unwind': why a stack that was unwound
				-- ends there, or 'hit_only'; NULL: it was
				-- recorded
	caller INTEGER		-- 1: a frame-pointer chain without the caller
				-- of its innermost frame; 2: that was
				-- inferred; 3: it has that caller, as the
				-- innermost function had set up its frame;
				-- 5: of a dump: a caller may be missing in
				-- front of a frame found by frame pointer;
				-- 6: in front of its caller is an address that
				-- an earlier call has left
);

CREATE TABLE symbol(
-- A function, or another name of a place in an image.
	id INTEGER PRIMARY KEY,
	image INTEGER,
	start INTEGER,		-- offset, as frame.off
	size INTEGER,
	name TEXT,		-- demangled
	raw_name TEXT,		-- NULL: the same
	how TEXT,		-- 'symtab', 'dynsym', 'kallsyms', ...
	unverified INTEGER
);

CREATE TABLE jit_code(
-- The code of an image that a process made while it ran, as in its jitdump
-- file, or of a BPF program, of those that stacks are in.
	image INTEGER PRIMARY KEY,
	machine INTEGER,	-- ELF e_machine
	addr INTEGER,		-- where it was, the first time
	bytes BLOB
);

CREATE TABLE jit_line(
-- The source line of jitted code from an offset on.
	image INTEGER,
	off INTEGER,
	file TEXT,
	line INTEGER,
	PRIMARY KEY(image, off)
) WITHOUT ROWID;

CREATE TABLE inline_frame(
-- Functions inlined at a frame; depth 0 is the innermost. The outermost one is
-- inlined into the frame's symbol, at frame.file and frame.line.
	frame INTEGER,
	depth INTEGER,
	name TEXT,
	file TEXT,
	line INTEGER
);

CREATE TABLE request(
-- One row per request for a user stack, with its verdict.
	event INTEGER PRIMARY KEY,
	cookie INTEGER,
	chain INTEGER,		-- chain.id
	uraw INTEGER,		-- raw_chain.id of the user half
	ip INTEGER,		-- sampled ip when it hit user mode
	verdict INTEGER,	-- word 'request'
	confidence INTEGER,	-- word 'confidence'
	flags INTEGER,		-- 1 after, 2 exec between, 4 other capture,
				-- 8 reused tid, 32 user hit, 128 first sample
				-- of the cookie lost, 256 perf gives it out
				-- after a later sample
	latency_ns INTEGER,	-- sample to chain
	exec_ns INTEGER,	-- time of the exec between
	ended_by INTEGER,	-- word 'end'; why a chain was due; NULL: it came
	until_ns INTEGER,	-- by when it was due
	loss INTEGER,		-- loss.id that explains the verdict
	as_perf INTEGER,	-- word 'as_perf'; NULL: it waited for no chain
	held_ns INTEGER,	-- how long perf held it back; NULL: to the end
	as_tid INTEGER		-- chain.id: the next one of the tid
);

CREATE TABLE chain(
-- One row per deferred user stack.
	id INTEGER PRIMARY KEY,
	capture INTEGER,
	time_ns INTEGER,
	cpu INTEGER,
	thread INTEGER,
	cookie INTEGER,
	uraw INTEGER,		-- NULL: empty
	verdict INTEGER,	-- word 'chain'
	confidence INTEGER,
	quality INTEGER,	-- word 'quality'
	flags INTEGER,		-- 4 all its requests are of captures that do
				-- not have it, 16 after exit, 64 conflict
	n_events INTEGER,
	from_ns INTEGER,	-- without a sample: its request came after
	loss INTEGER		-- loss.id that explains the verdict
);

CREATE TABLE chain_copy(
-- Other captures of the same kernel that recorded a chain: the same addresses
-- for the same cookie.
	chain INTEGER,		-- chain.id
	capture INTEGER,
	time_ns INTEGER,
	cpu INTEGER
);

CREATE TABLE cookies(
-- The cookies of a capture as a whole.
	capture INTEGER PRIMARY KEY,
	layout TEXT,		-- 'kernel', 'opaque', ...
	reason TEXT,		-- why missing counters prove nothing; NULL:
				-- they prove a loss
	no_chain INTEGER,	-- distinct cookies of samples without a chain
	no_sample INTEGER,	-- and of chains without a sample
	missing INTEGER		-- counters that no record has
);

CREATE TABLE cookie_cpu(
-- The cookies of one CPU.
	capture INTEGER,
	cpu INTEGER,
	first INTEGER, last INTEGER, -- the smallest and the largest, where it
				-- did not wrap
	seen INTEGER,
	missing INTEGER, gaps INTEGER, -- counters, and runs of them
	late INTEGER,		-- first seen after a later one: the first
				-- sample was lost
	elsewhere INTEGER,	-- first seen on another CPU: the same
	wraps INTEGER		-- of the 32-bit counter
);

CREATE TABLE cookie_gap(
-- A range of counter values that no record has.
	id INTEGER PRIMARY KEY,
	capture INTEGER,
	cpu INTEGER,
	first INTEGER, n INTEGER, -- the first counter, how many
	t0 INTEGER, t1 INTEGER,	-- made after t0, before t1
	verdict INTEGER,	-- word 'gap'
	loss INTEGER		-- loss.id that explains it
);

CREATE TABLE internal_rule(
-- Rules: what must not happen in a trace.
	id INTEGER PRIMARY KEY,
	name TEXT,
	proves TEXT,
	breaks INTEGER		-- 1: check ends with status 4
);

CREATE TABLE internal_finding(
-- Breaches of the rules.
	id INTEGER PRIMARY KEY,
	rule INTEGER,		-- internal_rule.id
	capture INTEGER,
	time_ns INTEGER, since_ns INTEGER, -- it happened in (since, time]
	cpu INTEGER,
	thread INTEGER,
	event INTEGER,
	loss INTEGER,		-- loss.id that explains it
	n INTEGER
);

CREATE TABLE loss(
-- Records that were dropped. The number of records lost is the sum of n where
-- counts is 1; the other rows report the same drops again, or other things
-- that were not recorded.
	id INTEGER PRIMARY KEY,
	capture INTEGER,
	what TEXT,		-- 'lost', 'lost_end', 'dropped', 'not_here',
				-- 'lost_total', 'filtered', 'throttled',
				-- 'overwritten', 'damage', 'mappings', ...
	counts INTEGER,		-- 1: adds to the number of records lost
	cpu INTEGER,
	type INTEGER,		-- event_type.id
	t0 INTEGER, t1 INTEGER,	-- (t0, t1]; NULL: not known
	n INTEGER,		-- records; NULL: not known how many
	off INTEGER
);

CREATE TABLE ordering(
-- Records that break the time order that their source promises.
	id INTEGER PRIMARY KEY,
	capture INTEGER,
	what TEXT,		-- 'round', 'late', 'regress'
	time_ns INTEGER,
	by_ns INTEGER,
	cpu INTEGER,
	n INTEGER,
	off INTEGER,
	detail TEXT
);

CREATE TABLE damage(
-- Damage that was skipped, and records that are not decoded.
	id INTEGER PRIMARY KEY,
	capture INTEGER,
	kind TEXT,		-- 'damage', 'skipped', 'note'
	what TEXT,
	off INTEGER, len INTEGER,
	n INTEGER,
	detail TEXT
);

CREATE VIEW internal_kept_frames(type, kernel, both) AS
-- How many frames the kernel keeps of the stacks of an event: of its own half,
-- and of both together.
-- 127 is sysctl kernel.perf_event_max_stack, where perf asks for no other number,
-- and what a deferred stack has at most. kernel is 0 where ftrace or LTTng made
-- the capture. It is here, and not with the other views, as what is read to judge
-- stacks needs it before those are made.
SELECT t.id, CASE WHEN c.format IN ('perf', 'ptext')
		THEN coalesce(m.value, 127) ELSE 0 END,
	CASE WHEN t.defer THEN 127 ELSE coalesce(m.value, 127) END
FROM event_type t LEFT JOIN capture c ON c.id = t.capture
LEFT JOIN meta m ON m.capture = t.capture AND m.key = 'max_stack';
