-- served.sql - tables that only a temporary database has whose sums a server
-- made. Their rows stand in for those of single events, which are not there.

-- Samples with equal values, added up.
CREATE TABLE served_group(
	type INTEGER,		-- event_type.id
	comm INTEGER,		-- comm.id
	cpu INTEGER,		-- NULL: not known, or not asked for
	kraw INTEGER, uraw INTEGER, -- raw_chain.id
	verdict INTEGER,	-- word 'request'; NULL: no request
	flags INTEGER,		-- as request.flags
	weight INTEGER, n INTEGER -- sum of the weights; how many samples
);

-- Requests and chains, by verdict and confidence.
CREATE TABLE served_verdict(
	kind TEXT,		-- 'request', 'chain'
	verdict TEXT, confidence TEXT, -- words
	n INTEGER
);

-- Losses of one kind. counts: as loss.counts.
CREATE TABLE served_loss(
	what TEXT, counts INTEGER,
	records INTEGER, intervals INTEGER, unknown INTEGER
);

-- Findings of one rule.
CREATE TABLE served_finding(
	rule TEXT, breaks INTEGER,
	findings INTEGER, explained INTEGER
);
