-- Documents that a definition refers to and that are deployed with it: OpenAPI documents, by their reference.
ALTER TABLE ostinato_journey_definitions ADD COLUMN documents text;
