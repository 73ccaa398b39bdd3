-- What a definition refers to and is deployed with it: OpenAPI documents, by their reference.
ALTER TABLE ostinato_journey_definitions ADD COLUMN documents text;
