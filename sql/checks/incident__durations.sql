-- check: incident
-- severity: fail
-- says: an incident's moments are out of order
SELECT
    run,
    incident,
    incident_id
FROM incident
WHERE
    fault_at < last_step_at
    OR detected_at < fault_at
    OR coalesce(detection_us < 0, FALSE)
    OR coalesce(steps_lost < 0, FALSE)
    OR coalesce(recovery_us < 0, FALSE)
    OR coalesce(lost_work_us < 0, FALSE)
