"""Where servers keep their files: inside the checkout where the database can go there, else outside."""

from collections.abc import Callable
from pathlib import Path

import pytest

from config.servers.place import LONGEST_SOCKET_PATH, find_place, own_folder, temporary_folder
from config.servers.problem import ServerProblem

NewCheckout = Callable[[str], Path]


@pytest.mark.parametrize("as_root", [True, False])
def test_an_open_checkout_keeps_its_own_data(new_checkout: NewCheckout, as_root: bool) -> None:
    checkout = new_checkout("shop")
    place = find_place(checkout, as_root=as_root)
    assert place.data == checkout / ".data"
    assert place.sockets == checkout / ".data" / "run"


def test_as_root_a_closed_checkout_keeps_its_data_outside(new_checkout: NewCheckout) -> None:
    checkout = new_checkout("home") / "my shop"
    checkout.mkdir()
    checkout.parent.chmod(0o700)
    place = find_place(checkout, as_root=True)
    assert place.data.parent == temporary_folder()
    assert place.data.name.startswith("toa-my-shop-")
    assert place.sockets == place.data / "run"
    assert checkout.parent.stat().st_mode & 0o777 == 0o700


def test_as_an_ordinary_user_a_closed_checkout_keeps_its_own_data(new_checkout: NewCheckout) -> None:
    checkout = new_checkout("home") / "shop"
    checkout.mkdir()
    checkout.parent.chmod(0o700)
    assert find_place(checkout, as_root=False).data == checkout / ".data"


@pytest.mark.parametrize("name", ["x" * LONGEST_SOCKET_PATH, "a,b", 'a"b', "fünf"])
def test_a_path_that_no_socket_can_have_moves_the_socket_alone(new_checkout: NewCheckout, name: str) -> None:
    checkout = new_checkout(name)
    place = find_place(checkout, as_root=False)
    assert place.data == checkout / ".data"
    assert place.sockets.parent.parent == temporary_folder()


def test_two_checkouts_of_one_name_share_nothing(new_checkout: NewCheckout) -> None:
    checkouts = [new_checkout(above) / "shop" for above in ("a", "b")]
    for checkout in checkouts:
        checkout.mkdir()
        checkout.parent.chmod(0o700)
    first, second = (find_place(checkout, as_root=True) for checkout in checkouts)
    assert first.data != second.data
    assert first.socket != second.socket


def test_finding_a_place_creates_nothing(new_checkout: NewCheckout) -> None:
    checkout = new_checkout("shop")
    find_place(checkout)
    assert list(checkout.iterdir()) == []


def test_data_are_closed_to_other_users(new_checkout: NewCheckout) -> None:
    place = find_place(new_checkout("shop"), as_root=False)
    place.prepare()
    assert place.data.stat().st_mode & 0o777 == 0o700


def test_a_link_in_the_place_of_the_folder_is_refused(new_checkout: NewCheckout) -> None:
    checkout = new_checkout("shop")
    (checkout / "elsewhere").mkdir()
    (checkout / ".data").symlink_to("elsewhere")
    with pytest.raises(ServerProblem, match=r"\.data is not a folder of the user that runs this"):
        own_folder(checkout / ".data", mode=0o700)


def test_a_file_in_the_place_of_the_folder_is_told_in_a_sentence(new_checkout: NewCheckout) -> None:
    checkout = new_checkout("shop")
    (checkout / ".data").touch()
    with pytest.raises(ServerProblem, match=r"cannot keep their files in .*\.data: File exists\."):
        own_folder(checkout / ".data", mode=0o700)
