"""Languages, or styles, mixed within a document: latent Dirichlet allocation."""

from momus_critics.code_mixing.critic import CodeMixing

__all__ = ["CodeMixing"]
