-- queries_sframe.sql - the selects behind sframe --readiness; its images,
-- frames and stacks are those of the call-site check.

-- name: ready_samples
SELECT user, sum(n) FROM sample_group WHERE user IS NOT NULL GROUP BY 1
