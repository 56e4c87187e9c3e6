"""Operations over HTTP, for those that manifests expose: `path("api/", include("toa.rest.urls"))`.

Needs the extra `[rest]`. Nothing else of toa imports this package.
"""
