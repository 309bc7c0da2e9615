"""A classifier of made text, by a name that another process finds."""


def of_documents():
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from momus.conformance.corpora import documents

    made = documents(40, seed=7)
    texts, titles = made.section_texts.to_pylist(), made.section_titles
    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, titles)
