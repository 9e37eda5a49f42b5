-- tables.sql - the tables of a backstitch database. Embedded at build time.
--
-- Times are ns on the timeline clock. Ids are dense. Addresses are SQLite's
-- signed integers (u64 above 2^63 wrap); every view shows them as hex text.
-- Small enumerations are integers with a row in `word`.

-- One row per word of an enumeration: verdicts, confidence, quality, kinds.
CREATE TABLE word(
	kind TEXT NOT NULL,	-- 'request', 'chain', 'confidence', 'quality', 'image'
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	PRIMARY KEY(kind, id)
) WITHOUT ROWID;

-- About the run and its captures. capture 0: the run itself.
CREATE TABLE meta(
	capture INTEGER NOT NULL,
	key TEXT NOT NULL,
	value,
	PRIMARY KEY(capture, key)
) WITHOUT ROWID;

-- One input.
CREATE TABLE capture(
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
	note TEXT		-- 'compressed', 'pipe', 'big-endian', ... by commas
);

-- One life of a process id. 0 is the kernel (in mapping only).
CREATE TABLE process(
	id INTEGER PRIMARY KEY,
	capture INTEGER,
	pid INTEGER,
	parent INTEGER,		-- process.id; NULL not known
	start_ns INTEGER, end_ns INTEGER -- NULL: before, after the capture
);

CREATE TABLE thread(
	id INTEGER PRIMARY KEY,
	process INTEGER,
	tid INTEGER,
	start_ns INTEGER, end_ns INTEGER
);

-- One name of one thread, from time_ns on.
CREATE TABLE comm(
	id INTEGER PRIMARY KEY,
	thread INTEGER,
	time_ns INTEGER,	-- NULL: before the capture
	exec INTEGER,
	name TEXT,		-- ':TID' when no name was ever said
	label TEXT		-- name as in folded stacks; NULL: the same
);

-- A file, or other place, that code came from.
CREATE TABLE image(
	id INTEGER PRIMARY KEY,
	kind INTEGER,		-- word 'image'
	path TEXT,
	build_id BLOB,
	maj INTEGER, min INTEGER, ino INTEGER, ino_gen INTEGER,
	start INTEGER, len INTEGER, -- kernel code: where it was
	t0 INTEGER,		-- since when it is this version
	process INTEGER,	-- anonymous memory: whose
	file TEXT,		-- where its symbols were read; NULL not yet
	status TEXT		-- 'named', 'unverified', or why there are no
				-- names: 'no file', 'other build-id', ...
);

-- Program headers that hold code, from the image's file.
CREATE TABLE segment(
	image INTEGER,
	off INTEGER, vaddr INTEGER, filesz INTEGER, flags INTEGER
);

-- What was mapped where and when.
CREATE TABLE mapping(
	id INTEGER PRIMARY KEY,
	process INTEGER,	-- 0: the kernel
	start INTEGER, "end" INTEGER, pgoff INTEGER,
	image INTEGER,
	prot INTEGER, flags INTEGER,
	t0 INTEGER, t1 INTEGER	-- NULL: before, after the capture
);

-- What was recorded. kind 'record' are switches, throttles and the like.
CREATE TABLE event_type(
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
	fields TEXT		-- name of its ev_ table; NULL: none
);

-- Every event, in time order. No index but the id.
CREATE TABLE event(
	id INTEGER PRIMARY KEY,
	time_ns INTEGER,	-- NULL: not timed
	cpu INTEGER,
	thread INTEGER,
	comm INTEGER,
	type INTEGER,
	weight INTEGER,
	kraw INTEGER,		-- raw_chain.id of the kernel half
	uraw INTEGER		-- of the user half in the sample itself; for
				-- a request see request.uraw
);

-- Samples of the same type, name and stacks, added up; made while events
-- are stored. One group may have several rows: take the sum.
CREATE TABLE sample_group(
	type INTEGER,		-- event_type.id
	comm INTEGER,		-- the first comm of that name
	kernel INTEGER,		-- stack.id of the kernel half
	user INTEGER,		-- and of the user half
	mark INTEGER,		-- NULL; 2: the user half is of another image,
				-- after exec; or minus the verdict of a
				-- missing user half
	weight INTEGER, n INTEGER -- sum of the weights; how many samples
);

-- Raw payload of tracepoints that have no ev_ table.
CREATE TABLE event_raw(
	event INTEGER PRIMARY KEY,
	data BLOB
);

-- Values of an event that have no column of their own.
CREATE TABLE sample_extra(
	event INTEGER,
	name TEXT,
	value			-- integer or blob
);

CREATE TABLE branch(
	event INTEGER,
	pos INTEGER,		-- 0: the newest
	"from" INTEGER, "to" INTEGER, flags INTEGER
);

-- A place in an image.
CREATE TABLE frame(
	id INTEGER PRIMARY KEY,
	image INTEGER,
	off INTEGER,		-- in the file; kernel: from _text, module: from
				-- its start; unknown: 0
	flags INTEGER,		-- 1 inferred, 2 uncertain, 4 of the program
				-- before exec
	vaddr INTEGER,		-- what addr2line wants; NULL not known
	symbol INTEGER,		-- symbol.id; NULL not named
	symoff INTEGER		-- from the symbol's start
);

-- A stack is a path in the tree: frame, called by parent.
CREATE TABLE stack(
	id INTEGER PRIMARY KEY,
	parent INTEGER,		-- < id; NULL: the outermost
	frame INTEGER,
	depth INTEGER,
	hash BLOB		-- of stacks in use: content, 128 bits
);

-- The frames of every stack in use; pos 0 is the innermost. Kept in the
-- order of folded stacks, so that those need no sorting.
CREATE TABLE stack_path(
	stack INTEGER,
	pos INTEGER,
	frame INTEGER,
	PRIMARY KEY(stack, pos DESC)
) WITHOUT ROWID;

-- The text of a frame in folded stacks: ';' and control bytes replaced,
-- inlined functions behind it, marked _[k] kernel, _[i] inlined, _[j] JIT.
CREATE TABLE label(
	frame INTEGER PRIMARY KEY,
	name TEXT
);

-- The addresses as recorded, for one stack. addrs: one varint (LEB128) of
-- each address's zigzag difference to the one before (first: to 0),
-- innermost first, stack.depth of them.
CREATE TABLE raw_chain(
	id INTEGER PRIMARY KEY,
	stack INTEGER,
	addrs BLOB
);

CREATE TABLE symbol(
	id INTEGER PRIMARY KEY,
	image INTEGER,
	start INTEGER,		-- offset, as frame.off
	size INTEGER,
	name TEXT,		-- demangled
	raw_name TEXT,		-- NULL: the same
	how TEXT,		-- 'symtab', 'dynsym', 'kallsyms', ...
	unverified INTEGER
);

-- Functions inlined at a frame; depth 0 is the innermost.
CREATE TABLE inline_frame(
	frame INTEGER,
	depth INTEGER,
	name TEXT,
	file TEXT,
	line INTEGER
);

-- One row per request: what became of it.
CREATE TABLE request(
	event INTEGER PRIMARY KEY,
	cookie INTEGER,
	chain INTEGER,		-- chain.id
	uraw INTEGER,		-- raw_chain.id of the user half
	ip INTEGER,		-- sampled ip when it hit user mode
	verdict INTEGER,	-- word 'request'
	confidence INTEGER,	-- word 'confidence'
	flags INTEGER,		-- 1 after, 2 exec between, 4 other capture,
				-- 8 reused tid, 32 user hit
	latency_ns INTEGER	-- sample to chain
);

-- One row per deferred user stack.
CREATE TABLE chain(
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
	flags INTEGER,		-- 16 after exit, 64 conflict
	n_events INTEGER
);

-- Records that were dropped.
CREATE TABLE loss(
	id INTEGER PRIMARY KEY,
	capture INTEGER,
	what TEXT,		-- 'lost', 'lost_total', 'filtered', ...
	cpu INTEGER,
	type INTEGER,		-- event_type.id
	t0 INTEGER, t1 INTEGER,	-- (t0, t1]; NULL: not known
	n INTEGER,
	off INTEGER
);

-- Broken promises about time order.
CREATE TABLE ordering(
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

-- What could not be read, and what is not decoded.
CREATE TABLE damage(
	id INTEGER PRIMARY KEY,
	capture INTEGER,
	kind TEXT,		-- 'damage', 'skipped', 'note'
	what TEXT,
	off INTEGER, len INTEGER,
	n INTEGER,
	detail TEXT
);
