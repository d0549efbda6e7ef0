# SPDX-License-Identifier: Apache-2.0
"""A certificate authority for one test, by openssl: certificates of servers and clients in a folder."""

import os
import ssl
import subprocess

# bcrypt of "secret" with the least cost.
SECRET = "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"
# The same with the usual cost: some 60 ms.
SLOW_SECRET = "$2b$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u"


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class Authority:
    """Makes NAME.pem and NAME.key in `folder`, signed by its own `ca.pem`."""

    def __init__(self, folder, name="ca"):
        self.folder = folder
        self._name = name
        self.ca = self.path(name + ".pem")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=" + name, "-keyout", self.path(name + ".key"), "-out", self.ca)

    def path(self, name):
        return os.path.join(self.folder, name)

    def sign(self, name, san, key=("ec", "-pkeyopt", "ec_paramgen_curve:P-256")):
        """Returns the paths of certificate and key for the subject alternative names `san`."""
        cert, private = self.path(name + ".pem"), self.path(name + ".key")
        openssl("req", "-newkey", *key, "-nodes", "-subj", "/CN=" + name, "-keyout", private, "-out", cert + ".csr")
        with open(cert + ".ext", "w") as file:
            file.write("subjectAltName=" + san + "\n")
        openssl("x509", "-req", "-in", cert + ".csr", "-CA", self.ca, "-CAkey", self.path(self._name + ".key"),
                "-CAcreateserial", "-days", "2", "-extfile", cert + ".ext", "-out", cert)
        return cert, private

    def context(self, client=None):
        """Of a client that trusts this authority and, with the paths of certificate and key, shows that certificate."""
        context = ssl.create_default_context(cafile=self.ca)
        if client:
            context.load_cert_chain(*client)
        return context
