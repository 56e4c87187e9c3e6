"""What a team writes for one object and one change of it: DRF's own serializers and views."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.shortcuts import get_object_or_404
from django.utils import timezone
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from benchmarks.components.meters.models import Meter


class MeterSerializer(serializers.ModelSerializer):  # type: ignore[type-arg]
    class Meta:
        model = Meter
        fields = ("id", "count", "open", "name", "until", "created_at", "updated_at", "version")


class AddSerializer(serializers.Serializer):  # type: ignore[type-arg]
    by = serializers.IntegerField(min_value=0, max_value=1000)


class MeterView(generics.RetrieveAPIView):  # type: ignore[type-arg]
    queryset = Meter.objects.filter(deleted_at=None)
    serializer_class = MeterSerializer


class AddView(APIView):
    def post(self, request: Request, pk: Any) -> Response:
        given = AddSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        with transaction.atomic():
            meter = get_object_or_404(Meter.objects.select_for_update(no_key=True), pk=pk, deleted_at=None)
            meter.count += given.validated_data["by"]
            meter.version += 1
            meter.updated_at = timezone.now()
            meter.save(update_fields=["count", "version", "updated_at"])
        return Response(status=204)
