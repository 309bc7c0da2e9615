"""Code mixing, of languages or styles within a document: latent Dirichlet allocation as a critic."""

from momus_critics.code_mixing.critic import CodeMixing

__all__ = ["CodeMixing"]
