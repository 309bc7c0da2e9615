"""Language models that generate and score text: ``transformers``, small ones, servers, KenLM."""
