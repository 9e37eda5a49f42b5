-- served.sql - tables that only a temporary database has whose sums a server
-- made. Their rows stand in for those of single events, which are not there.

CREATE TABLE served_group(
-- Samples with equal values, added up.
	type INTEGER,		-- event_type.id
	comm INTEGER,		-- comm.id
	cpu INTEGER,		-- NULL: not known, or not asked for
	kraw INTEGER, uraw INTEGER, -- raw_chain.id
	verdict INTEGER,	-- word 'request'; NULL: no request
	flags INTEGER,		-- as request.flags
	weight INTEGER, n INTEGER -- sum of the weights; how many samples
);

CREATE TABLE served_verdict(
-- Requests and chains, by verdict and confidence.
	kind TEXT,		-- 'request', 'chain'
	verdict TEXT, confidence TEXT, -- words
	n INTEGER
);

CREATE TABLE served_loss(
-- Losses of one kind. counts: as loss.counts.
	what TEXT, counts INTEGER,
	records INTEGER, intervals INTEGER, unknown INTEGER
);

CREATE TABLE served_finding(
-- Findings of one rule.
	rule TEXT, breaks INTEGER,
	findings INTEGER, explained INTEGER
);
